"""Allow rules that approve every command."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.covers import tool_of, working
from checkrein.passes.checks.examples import SETTINGS, document
from checkrein.policy.patterns import compile_command

_SHELLS = ("Bash", "PowerShell")


def run(subject: Subject) -> Iterator[Finding]:
    for rule in working(subject):
        if rule.verdict != "allow" or tool_of(rule) not in _SHELLS:
            continue
        if rule.specifier is None or compile_command(rule.specifier).matches("\x00"):
            message = f"`{rule.text}` in `allow` approves every {rule.tool} command"
            yield Finding(origin=subject.find(rule.origin, rule.text), message=message)


CHECK = Check(
    code="PERM009",
    name="shell-allowed-whole",
    severity="warning",
    summary="An allow rule approves every command.",
    why="Any command runs without a question, even one that a file or a web page tells the model to run. "
    "Only deny rules still apply, and no list of them is complete.",
    hint="List the commands you need, such as `Bash(make *)`, or run in a sandbox.",
    bad={SETTINGS: document({"permissions": {"allow": ["Bash"]}})},
    good={SETTINGS: document({"permissions": {"allow": ["Bash(make *)"]}})},
    run=run,
)
