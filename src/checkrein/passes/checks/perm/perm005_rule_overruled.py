"""Allow and ask rules that a stricter rule fully overrules."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.model.rule import VERDICTS
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.covers import covers, working
from checkrein.passes.checks.examples import SETTINGS, document


def run(subject: Subject) -> Iterator[Finding]:
    rules = list(working(subject))
    for rule in rules:
        stricter = VERDICTS[VERDICTS.index(rule.verdict) + 1 :]
        ruler = next(
            (
                other
                for verdict in reversed(stricter)
                for other in rules
                if other.verdict == verdict
                and other.text.strip() != rule.text.strip()
                and covers(other, rule)
            ),
            None,
        )
        if ruler is not None:
            yield Finding(
                origin=subject.find(rule.origin, rule.text),
                message=f"`{rule.text}` in `{rule.verdict}` never decides: `{ruler.text}` in "
                f"`{ruler.verdict}` covers it",
                related=(ruler.origin,),
            )


CHECK = Check(
    code="PERM005",
    name="rule-overruled",
    severity="warning",
    summary="A stricter rule covers this one.",
    why="Deny goes before ask and ask before allow, in every file, even for exact rules. There are no "
    "exceptions to a deny or an ask.",
    hint="Narrow the stricter rule to the calls you mean, or remove this one.",
    bad={SETTINGS: document({"permissions": {"deny": ["Bash(git *)"], "allow": ["Bash(git status *)"]}})},
    good={
        SETTINGS: document({"permissions": {"deny": ["Bash(git push *)"], "allow": ["Bash(git status *)"]}})
    },
    run=run,
)
