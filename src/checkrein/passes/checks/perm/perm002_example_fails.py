"""Examples of rules in the configuration that fail."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.policy.examples import CODE, check_examples
from checkrein.policy.situation import situation
from checkrein.policy.trust import assumed

_RULE = '[[permissions.rules]]\ndeny = "Bash(rm *)"\nmatch = ["sudo rm x"]\nnot_match = ["{}"]\n'


def run(subject: Subject) -> Iterator[Finding]:
    context = situation(subject.project, assumed(subject.project)).context()
    for found in check_examples(subject.project.rules, context, subject.tools):
        yield Finding(origin=found.origin, message=found.message)


CHECK = Check(
    code=CODE,
    name="example-fails",
    severity="error",
    summary="A rule does not match its own example, or matches what it must not.",
    why="A rule that does not mean what its author thinks protects nothing.",
    hint="Correct the rule, or the example.",
    bad={"checkrein.toml": _RULE.format("rm x")},
    good={"checkrein.toml": _RULE.format("git rm --cached x")},
    run=run,
)
