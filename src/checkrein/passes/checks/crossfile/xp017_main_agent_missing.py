"""A main agent that does not exist."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.base.nearest import nearest
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import AGENT, SETTINGS, agent, document
from checkrein.passes.checks.parts import agent_names, names_agent
from checkrein.passes.checks.settingkeys import named


def run(subject: Subject) -> Iterator[Finding]:
    known = agent_names(subject.project)
    for setting in named(subject, "agent"):
        name = setting.value
        if setting.name == "agent" and isinstance(name, str) and name and not names_agent(name, known, None):
            if setting.origin.scope == "plugin":
                continue
            suggestion = nearest(name, known, 0.7)
            message = f"`agent` names `{name}`, which is not an agent" + (
                f"; did you mean `{suggestion}`" if suggestion else ""
            )
            yield Finding(origin=setting.origin, message=message)


CHECK = Check(
    code="XP017",
    name="main-agent-missing",
    severity="error",
    summary="The setting `agent` names an agent that does not exist.",
    why="Sessions start without the instructions and limits of the agent you meant.",
    hint="Use the `name` of an agent.",
    bad={AGENT: agent(), SETTINGS: document({"agent": "testr"})},
    good={AGENT: agent(), SETTINGS: document({"agent": "tester"})},
    run=run,
    whole=True,
)
