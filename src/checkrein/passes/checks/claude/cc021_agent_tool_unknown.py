"""Tools of an agent that do not exist."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.base.nearest import nearest
from checkrein.passes.checks import edits, toolnames
from checkrein.passes.checks.agentpools import tools_of
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import AGENT, agent
from checkrein.passes.checks.foreign import product_name


def run(subject: Subject) -> Iterator[Finding]:
    for item in subject.project.sources.agents:
        unknown = [
            mention for mention in toolnames.listed(item) if not toolnames.is_known(mention.tool, subject)
        ]
        starts = not unknown or bool(tools_of(item, subject)[1].names)
        for mention in unknown:
            if product_name(mention, subject) is not None:
                continue
            if mention.where == "tools" and not starts:
                continue
            origin = subject.find(mention.origin, mention.tool)
            meant = nearest(mention.tool, toolnames.known_tools(subject), 0.75)
            fix = edits.respell(subject, origin, mention.tool, meant) if meant else None
            message = (
                f"`{mention.where}` of the agent `{item.name}` names `{mention.tool}`, which is not a tool"
            )
            yield Finding(origin=origin, message=message, fix=fix)


CHECK = Check(
    code="CC021",
    name="agent-tool-unknown",
    severity="warning",
    summary="An agent lists a tool that does not exist.",
    why="Claude Code skips the entry, so the agent lacks the tool you meant, or keeps one you wanted to "
    "remove.",
    hint="Correct the name; case matters. Tools of servers are named `mcp__server__tool`.",
    bad={AGENT: agent("tools: Read, Gerp")},
    good={AGENT: agent("tools: Read, Grep")},
    run=run,
    fixable=True,
)
