"""Rule patterns that match nothing."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.globpatterns import dead_reason
from checkrein.passes.checks.parts import field


def run(subject: Subject) -> Iterator[Finding]:
    for item in subject.project.sources.instructions:
        for pattern in item.paths:
            reason = dead_reason(pattern)
            if reason:
                origin = subject.find(field(item, "paths"), pattern)
                yield Finding(origin=origin, message=f"The pattern `{pattern}` {reason}")


CHECK = Check(
    code="MEM005",
    name="rule-pattern-dead",
    severity="error",
    summary="A pattern in a rule's `paths` can match no file.",
    why="Claude Code loads a rule with `paths` when the model reads a matching file. A pattern that matches "
    "nothing never loads it.",
    hint="Write the pattern relative to the project, such as `src/**/*.ts`.",
    bad={".claude/rules/api.md": '---\npaths: "src/[a-z*.py"\n---\nReturn JSON.\n', "src/a.py": "pass\n"},
    good={".claude/rules/api.md": '---\npaths: "src/[a-z]*.py"\n---\nReturn JSON.\n', "src/a.py": "pass\n"},
    run=run,
)
