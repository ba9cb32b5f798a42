"""A SKILL.md without frontmatter."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SKILL, skill
from checkrein.passes.checks.parts import top


def run(subject: Subject) -> Iterator[Finding]:
    for item in subject.project.sources.skills:
        body = item.body.strip()
        if not item.has_frontmatter and body and not body.startswith("---"):  # that one is not closed
            yield Finding(origin=top(item), message=f"The skill `{item.name}` has no frontmatter")


CHECK = Check(
    code="AS001",
    name="frontmatter-missing",
    severity="warning",
    summary="A SKILL.md has no frontmatter.",
    why="Claude Code uses the first paragraph as the description; other agents skip the skill.",
    hint="Start the file with `---`, `name`, `description` and `---`.",
    bad={SKILL: "Read the diff and list mistakes.\n"},
    good={SKILL: skill()},
    run=run,
    dialects="all",
)
