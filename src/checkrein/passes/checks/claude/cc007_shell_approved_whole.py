"""`allowed-tools` that approves every command."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks import toolnames
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SKILL, skill
from checkrein.passes.checks.parts import invocables

_SHELLS = ("Bash", "PowerShell")


def run(subject: Subject) -> Iterator[Finding]:
    for item in invocables(subject.project):
        for mention in toolnames.listed(item):
            if mention.where == "allowed-tools" and mention.tool in _SHELLS and mention.specifier is None:
                origin = subject.find(mention.origin, mention.text)
                message = f"`allowed-tools` of `{item.name}` approves every {mention.tool} command"
                yield Finding(origin=origin, message=message)


CHECK = Check(
    code="CC007",
    name="shell-approved-whole",
    severity="warning",
    summary="`allowed-tools` lists `Bash` without a pattern.",
    why="In the turn that uses the skill, any command runs without a question, even one that a file tells "
    "the model to run.",
    hint="List the commands it needs, such as `Bash(git diff *)`.",
    bad={SKILL: skill("allowed-tools: Read, Bash")},
    good={SKILL: skill("allowed-tools: Read, Bash(git diff *)")},
    run=run,
)
