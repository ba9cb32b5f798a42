"""Path rules on tools whose path rules the product ignores."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts.tools import PATH_RULES_IGNORED
from checkrein.model.rule import Rule
from checkrein.passes.checks import edits
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SETTINGS, document
from checkrein.policy.tools import builtin_tools


def run(subject: Subject) -> Iterator[Finding]:
    for rule in subject.project.sources.rules:
        if not is_ignored(rule):
            continue
        family = builtin_tools().get(rule.tool).family
        origin = subject.find(rule.origin, rule.text)
        better = f"{family}({rule.specifier})"
        holds = "" if rule.verdict == "allow" else "; a session of checkrein still obeys it"
        yield Finding(
            origin=origin,
            message=f"Claude Code ignores `{rule.text}` in `{rule.verdict}`; it uses "
            f"{family} rules only{holds}",
            hint=f"Write `{better}`, which applies to all tools that "
            + ("read files." if family == "Read" else "change files."),
            fix=edits.swap(subject, origin, rule.text, better, f"Write `{better}`", safe=False),
            severity="warning" if rule.verdict == "allow" else None,
        )


def is_ignored(rule: Rule) -> bool:
    return rule.tool in PATH_RULES_IGNORED and rule.specifier is not None and rule.problem is None


CHECK = Check(
    code="PERM003",
    name="path-rule-ignored",
    severity="error",
    summary="A path rule names a tool whose path rules Claude Code ignores.",
    why="Only `Read(...)` and `Edit(...)` rules decide file access; a path on Write, NotebookEdit, Glob or "
    "Grep protects nothing.",
    hint="Write `Edit(...)` for tools that change files and `Read(...)` for tools that read them.",
    bad={SETTINGS: document({"permissions": {"deny": ["Write(secrets/**)"], "allow": ["Glob(src/**)"]}})},
    good={SETTINGS: document({"permissions": {"deny": ["Edit(secrets/**)"], "allow": ["Read(src/**)"]}})},
    run=run,
    fixable=True,
)
