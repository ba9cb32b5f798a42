"""A skill without `name`."""

from __future__ import annotations

import os
from collections.abc import Iterator

from checkrein.passes.checks import edits
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SKILL, skill
from checkrein.passes.checks.parts import top


def run(subject: Subject) -> Iterator[Finding]:
    for item in subject.project.sources.skills:
        if item.has_frontmatter and not item.display_name and "name" not in item.unknown and item.spans:
            directory = os.path.basename(item.directory)
            fix = None
            if "name" not in item.spans:
                fix = edits.insert_line(
                    subject, item.origin.file, 2, f"name: {directory}", f"Add `name: {directory}`"
                )
            yield Finding(origin=top(item), message=f"The skill `{item.name}` has no `name`", fix=fix)


CHECK = Check(
    code="AS002",
    name="name-missing",
    severity="warning",
    summary="A skill has no `name`.",
    why="Claude Code uses the folder's name; the Agent Skills standard requires the field, and agents "
    "that follow it skip the skill.",
    hint="Add `name` with the folder's name.",
    bad={SKILL: skill(name=None)},
    good={SKILL: skill()},
    run=run,
    dialects="all",
    fixable=True,
)
