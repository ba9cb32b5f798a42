"""Lists of tools in the words of another product."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.model.items import Agent
from checkrein.passes.checks.agentpools import tools_of
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import AGENT, agent
from checkrein.passes.checks.foreign import foreign
from checkrein.passes.checks.parts import noun


def run(subject: Subject) -> Iterator[Finding]:
    for found in foreign(subject):
        if isinstance(found.owner, Agent) and not tools_of(found.owner, subject)[1].names:
            continue
        first = found.mentions[0]
        names = ", ".join(f"`{mention.tool}`" for mention in found.mentions)
        says = "are names" if len(found.mentions) > 1 else "is a name"
        message = (
            f"{names} in `{first.where}` of the {noun(found.owner)} `{found.owner.name}` {says} of "
            f"{found.product}; Claude Code has no such tool"
        )
        yield Finding(origin=subject.find(first.origin, first.tool), message=message)


CHECK = Check(
    code="CC044",
    name="other-dialect",
    severity="warning",
    summary="A list of tools is written for another product.",
    why="Claude Code skips the names it does not know. An agent without any known tool can't start; with "
    "some it lacks what its author meant.",
    hint="Write Claude Code's names, or keep the file where the other product reads it. `checkrein convert` "
    "translates.",
    bad={AGENT: agent("tools: Read, codebase, editFiles")},
    good={AGENT: agent("tools: Read, Grep, Edit")},
    run=run,
)
