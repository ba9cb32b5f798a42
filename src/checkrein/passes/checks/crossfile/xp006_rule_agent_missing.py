"""Rules about agents that do not exist."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.base.nearest import nearest
from checkrein.passes.checks import toolnames
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import AGENT, SETTINGS, agent, document
from checkrein.passes.checks.parts import agent_names, names_agent


def run(subject: Subject) -> Iterator[Finding]:
    known = agent_names(subject.project)
    for mention in toolnames.mentions(subject.project):
        if mention.tool not in ("Agent", "Task") or not mention.specifier or ":*" in mention.specifier:
            continue
        plugin = mention.owner.plugin if mention.owner else None
        for part in mention.specifier.split(","):
            name = part.strip()
            if not re.fullmatch(r"[\w-]+", name) or names_agent(name, known, plugin):
                continue
            origin = subject.find(mention.origin, mention.text)
            suggestion = nearest(name, known, 0.7)
            message = f"`{mention.text}` does not name an agent" + (
                f"; did you mean `{suggestion}`" if suggestion else ""
            )
            yield Finding(origin=origin, message=message)


CHECK = Check(
    code="XP006",
    name="rule-agent-missing",
    severity="warning",
    summary="A rule names an agent that does not exist.",
    why="It matches nothing: the agent you meant may still start.",
    hint="Use the `name` of the agent, or `plugin:name` in a plugin; case matters.",
    bad={AGENT: agent(), SETTINGS: document({"permissions": {"deny": ["Agent(explore)"]}})},
    good={AGENT: agent(), SETTINGS: document({"permissions": {"deny": ["Agent(Explore)"]}})},
    run=run,
    whole=True,
)
