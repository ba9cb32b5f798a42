"""Deny and ask rules for a bare program name, which arguments escape."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.model.rule import parse_rule
from checkrein.passes.checks import edits
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.covers import covers, tool_of, working
from checkrein.passes.checks.examples import SETTINGS, document

_PROGRAM = re.compile(r"[A-Za-z0-9_./-]+")


def run(subject: Subject) -> Iterator[Finding]:
    rules = list(working(subject))
    for rule in rules:
        spec = (rule.specifier or "").strip()
        if rule.verdict == "allow" or tool_of(rule) != "Bash" or not _PROGRAM.fullmatch(spec):
            continue
        better = f"{rule.tool}({spec} *)"
        wide = parse_rule(better, rule.verdict, rule.origin)
        if any(other.verdict != "allow" and covers(other, wide) for other in rules):
            continue
        origin = subject.find(rule.origin, rule.text)
        yield Finding(
            origin=origin,
            message=f"`{rule.text}` in `{rule.verdict}` matches only `{spec}` without arguments",
            hint=f"Write `{better}`.",
            fix=edits.swap(subject, origin, rule.text, better, f"Write `{better}`"),
        )


CHECK = Check(
    code="PERM011",
    name="deny-exact-only",
    severity="warning",
    summary="A deny or ask rule names a program without `*`.",
    why="A pattern without `*` matches the whole command line exactly; with any argument the rule does not "
    "apply.",
    hint="Add ` *`, which also matches the program alone.",
    bad={SETTINGS: document({"permissions": {"deny": ["Bash(curl)"]}})},
    good={SETTINGS: document({"permissions": {"deny": ["Bash(curl *)"]}})},
    run=run,
    fixable=True,
)
