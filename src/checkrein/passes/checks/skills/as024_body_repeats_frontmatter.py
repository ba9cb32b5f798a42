"""A second block of fields at the start of the body."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SKILL, skill
from checkrein.passes.checks.parts import bodies, noun
from checkrein.passes.checks.prose import spot

_BLOCK = re.compile(r"\s*^---[ \t]*\r?\n\s*(?:name|description|allowed-tools|model):\s", re.M)


def run(subject: Subject) -> Iterator[Finding]:
    for item in bodies(subject.project):
        if item.body_line > 1 and _BLOCK.match(item.body):
            line = item.body_line + item.body[: item.body.index("---")].count("\n")
            message = f"The {noun(item)} `{item.name}` has a second block of fields, which counts as text"
            yield Finding(origin=spot(item, line, 0, 3), message=message)


CHECK = Check(
    code="AS024",
    name="second-frontmatter",
    severity="warning",
    summary="A second block of fields follows the frontmatter.",
    why="Only the first block counts. The model sees the second as text; it sets nothing.",
    hint="Join the two blocks.",
    bad={SKILL: skill(body="---\nallowed-tools: Bash(git diff *)\n---\nRead the diff.\n")},
    good={SKILL: skill("allowed-tools: Bash(git diff *)", body="---\n\nRead the diff.\n")},
    run=run,
    dialects="all",
)
