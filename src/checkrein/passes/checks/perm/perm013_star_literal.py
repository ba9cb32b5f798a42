"""`:*` where it is not special."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.covers import tool_of, working
from checkrein.passes.checks.examples import SETTINGS, document


def run(subject: Subject) -> Iterator[Finding]:
    for rule in working(subject):
        spec = (rule.specifier or "").strip()
        if tool_of(rule) == "Bash" and ":*" in spec[:-2]:
            yield Finding(
                origin=subject.find(rule.origin, ":*"),
                message=f"In `{rule.text}` the inner `:*` is a colon and a wildcard, not the end of a prefix",
                severity="error" if rule.verdict == "deny" else None,
            )


CHECK = Check(
    code="PERM013",
    name="star-literal",
    severity="warning",
    summary="`:*` is in the middle of a command pattern.",
    why='`:*` means "and any arguments" only at the end; elsewhere the command must hold a colon.',
    hint="Write ` *` for any text.",
    bad={SETTINGS: document({"permissions": {"deny": ["Bash(git:* push)"]}})},
    good={SETTINGS: document({"permissions": {"deny": ["Bash(git * push)", "Bash(npm run test:*)"]}})},
    run=run,
)
