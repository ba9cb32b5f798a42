"""Rules that never match anything."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks import toolnames
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SETTINGS, document
from checkrein.passes.checks.perm.perm003_path_rule_ignored import is_ignored
from checkrein.policy.rules import problem_of


def run(subject: Subject) -> Iterator[Finding]:
    for rule in subject.project.sources.rules:
        problem = problem_of(rule, subject.tools)
        named = toolnames.is_known(rule.tool, subject) or rule.problem
        if problem is None or is_ignored(rule) or not named:
            continue
        yield Finding(
            origin=subject.find(rule.origin, rule.text),
            message=f"`{rule.text}` in `{rule.verdict}` has no effect: {problem}",
            severity="error" if rule.verdict == "deny" else None,
        )


CHECK = Check(
    code="PERM001",
    name="rule-without-effect",
    severity="warning",
    summary="A permission rule can match nothing.",
    why="It has no effect, without any message: it does not forbid what it should, and what it should allow "
    "still needs approval.",
    hint="Correct the rule; `checkrein why 'Tool(...)'` shows which rule decides a call.",
    bad={SETTINGS: document({"permissions": {"deny": ["Bash(rm *", "WebFetch(example.com)"]}})},
    good={SETTINGS: document({"permissions": {"deny": ["Bash(rm *)", "WebFetch(domain:example.com)"]}})},
    run=run,
)
