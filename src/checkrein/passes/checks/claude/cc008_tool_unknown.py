"""Tools of a skill or command that do not exist."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.base.nearest import nearest
from checkrein.passes.checks import edits, toolnames
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SKILL, skill
from checkrein.passes.checks.foreign import product_name
from checkrein.passes.checks.parts import invocables


def run(subject: Subject) -> Iterator[Finding]:
    for item in invocables(subject.project):
        for mention in toolnames.listed(item):
            if toolnames.is_known(mention.tool, subject) or product_name(mention, subject) is not None:
                continue
            origin = subject.find(mention.origin, mention.tool)
            meant = nearest(mention.tool, toolnames.known_tools(subject), 0.75)
            approves = mention.where == "allowed-tools"
            fix = edits.respell(subject, origin, mention.tool, meant, approves=approves) if meant else None
            message = f"`{mention.where}` of `{item.name}` names `{mention.tool}`, which is not a tool"
            yield Finding(origin=origin, message=message, fix=fix)


CHECK = Check(
    code="CC008",
    name="tool-unknown",
    severity="warning",
    summary="A skill or command lists a tool that does not exist.",
    why="The entry matches nothing: the tool you meant is not approved, or not removed.",
    hint="Correct the name; case matters. Tools of servers are named `mcp__server__tool`.",
    bad={SKILL: skill("allowed-tools: bash(git diff *)")},
    good={SKILL: skill("allowed-tools: Bash(git diff *)")},
    run=run,
    fixable=True,
)
