"""`allowed-tools` that grants nothing."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.model.rule import split_rule
from checkrein.passes.checks import toolnames
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SKILL, skill
from checkrein.passes.checks.parts import field, invocables


def run(subject: Subject) -> Iterator[Finding]:
    free = toolnames.free_tools()
    for item in invocables(subject.project):
        tools = [split_rule(text)[0] for text in item.allowed_tools]
        if tools and all(tool in free for tool in tools):
            message = (
                f"`allowed-tools` of `{item.name}` lists only tools that never ask; it restricts nothing"
            )
            yield Finding(origin=field(item, "allowed-tools"), message=message)


CHECK = Check(
    code="CC006",
    name="allowed-tools-without-effect",
    severity="warning",
    summary="`allowed-tools` lists only tools that need no approval.",
    why="In Claude Code the field approves tools in advance and removes none. Listing Read or Grep "
    "does not make a skill read-only: it may still edit and run commands as the session allows.",
    hint="Name what must not be used in `disallowed-tools`, or run it with `context: fork` as an agent "
    "with `tools`.",
    bad={SKILL: skill("allowed-tools: Read, Grep, Glob")},
    good={SKILL: skill("allowed-tools: Read, Bash(git diff *)")},
    run=run,
)
