"""Rules that appear twice in one list."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.base.origin import Origin
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SETTINGS, document


def run(subject: Subject) -> Iterator[Finding]:
    seen: dict[tuple[str, str, str], Origin] = {}
    for rule in subject.project.sources.rules:
        first = seen.setdefault((rule.origin.file, rule.verdict, rule.text.strip()), rule.origin)
        if first is not rule.origin:
            message = f"`{rule.text}` appears twice in `permissions.{rule.verdict}`"
            yield Finding(origin=subject.find(rule.origin, rule.text), message=message, related=(first,))


CHECK = Check(
    code="PERM004",
    name="rule-twice",
    severity="info",
    summary="A rule appears twice in one list.",
    why="The second one changes nothing, and a person who removes the first believes that the rule is gone.",
    hint="Remove one of them.",
    bad={SETTINGS: document({"permissions": {"allow": ["Bash(make *)", "Read", "Bash(make *)"]}})},
    good={SETTINGS: document({"permissions": {"allow": ["Bash(make *)", "Read"]}})},
    run=run,
)
