"""Rules written for another agent."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts import claude_guidance
from checkrein.passes.checks import edits
from checkrein.passes.checks.check import Check, Finding, Subject

_FOREIGN = claude_guidance.FOREIGN_RULE_FIELDS


def run(subject: Subject) -> Iterator[Finding]:
    for item in subject.project.sources.instructions:
        for name in item.unknown if item.kind == "rule" else ():
            if name not in _FOREIGN:
                continue
            instead = _FOREIGN[name]
            origin = item.where(name)
            fix = None
            if instead and instead not in item.spans:
                fix = edits.rename(subject, origin, name, instead, safe=False)
            meaning = "the rule always loads" if "paths" not in item.spans else "it has no effect"
            message = f"`{name}` is another agent's field; {meaning}"
            yield Finding(origin=subject.find(origin, name), message=message, fix=fix)


CHECK = Check(
    code="MEM009",
    name="rule-field-foreign",
    severity="warning",
    summary="A rule uses another agent's field to say where it applies.",
    why="Claude Code knows `paths` only. A rule without it is in the context of every request.",
    hint="Write the patterns under `paths`.",
    bad={".claude/rules/api.md": '---\nglobs: "src/**"\n---\nReturn JSON.\n', "src/a.py": "pass\n"},
    good={".claude/rules/api.md": '---\npaths: "src/**"\n---\nReturn JSON.\n', "src/a.py": "pass\n"},
    run=run,
    fixable=True,
)
