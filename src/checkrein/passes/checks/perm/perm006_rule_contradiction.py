"""The same rule in two lists."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.model.rule import VERDICTS, Rule
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.covers import working
from checkrein.passes.checks.examples import SETTINGS, document


def run(subject: Subject) -> Iterator[Finding]:
    strictest: dict[str, Rule] = {}
    rules = sorted(working(subject), key=lambda rule: -VERDICTS.index(rule.verdict))
    for rule in rules:
        first = strictest.setdefault(rule.text.strip(), rule)
        if first.verdict != rule.verdict:
            yield Finding(
                origin=subject.find(rule.origin, rule.text),
                message=f"`{rule.text}` is in `{rule.verdict}` and in `{first.verdict}`; "
                f"`{first.verdict}` wins",
                related=(first.origin,),
            )


CHECK = Check(
    code="PERM006",
    name="rule-contradiction",
    severity="warning",
    summary="The same rule is in two lists.",
    why="The stricter list wins in every scope, so the other entry only misleads.",
    hint="Keep one and remove the other.",
    bad={
        SETTINGS: document(
            {"permissions": {"allow": ["Bash(npm publish *)"], "ask": ["Bash(npm publish *)"]}}
        )
    },
    good={SETTINGS: document({"permissions": {"ask": ["Bash(npm publish *)"]}})},
    run=run,
)
