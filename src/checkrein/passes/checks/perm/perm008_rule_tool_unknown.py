"""Rules about tools that do not exist."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.base.nearest import nearest
from checkrein.passes.checks import edits, toolnames
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SETTINGS, document


def run(subject: Subject) -> Iterator[Finding]:
    for rule in subject.project.sources.rules:
        if rule.problem or toolnames.is_known(rule.tool, subject):
            continue
        origin = subject.find(rule.origin, rule.tool)
        meant = nearest(rule.tool, toolnames.known_tools(subject), 0.75)
        title = f"Write `{meant}`"
        safe = rule.verdict != "allow"
        yield Finding(
            origin=origin,
            message=f"`{rule.text}` in `{rule.verdict}` names `{rule.tool}`, which is not a tool"
            + (f"; did you mean `{meant}`" if meant else ""),
            fix=edits.swap(subject, origin, rule.tool, meant, title, safe=safe) if meant else None,
            severity="error" if rule.verdict == "deny" else None,
        )


CHECK = Check(
    code="PERM008",
    name="rule-tool-unknown",
    severity="warning",
    summary="A permission rule names a tool that does not exist.",
    why="It matches nothing: a deny rule with a wrong name forbids nothing.",
    hint="Correct the name; case matters. Tools of servers are named `mcp__server__tool`.",
    bad={SETTINGS: document({"permissions": {"deny": ["bash(rm *)"]}})},
    good={SETTINGS: document({"permissions": {"deny": ["Bash(rm *)"]}})},
    run=run,
    fixable=True,
)
