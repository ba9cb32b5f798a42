"""Rules that another rule of the same list covers."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.covers import covers, working
from checkrein.passes.checks.examples import SETTINGS, document


def run(subject: Subject) -> Iterator[Finding]:
    rules = list(working(subject))
    for rule in rules:
        wider = next(
            (
                other
                for other in rules
                if other.verdict == rule.verdict
                and other.origin.file == rule.origin.file
                and covers(other, rule)
                and not covers(rule, other)
            ),
            None,
        )
        if wider is not None:
            yield Finding(
                origin=subject.find(rule.origin, rule.text),
                message=f"`{rule.text}` in `{rule.verdict}` adds nothing to `{wider.text}`",
                related=(wider.origin,),
            )


CHECK = Check(
    code="PERM007",
    name="rule-redundant",
    severity="info",
    summary="A wider rule of the same list covers this one.",
    why="It changes nothing. Often the wider rule is wider than its author meant.",
    hint="Remove it, or narrow the wider rule.",
    bad={SETTINGS: document({"permissions": {"allow": ["Bash(make *)", "Bash(make test)"]}})},
    good={SETTINGS: document({"permissions": {"allow": ["Bash(make lint)", "Bash(make test)"]}})},
    run=run,
)
