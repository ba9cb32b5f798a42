"""A skill without `description`."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SKILL, skill
from checkrein.passes.checks.parts import field


def run(subject: Subject) -> Iterator[Finding]:
    for item in subject.project.sources.skills:
        written = "description" in item.unknown
        if item.has_frontmatter and item.spans and not written and not (item.description or "").strip():
            message = f"The skill `{item.name}` has no description"
            yield Finding(origin=field(item, "description"), message=message)


CHECK = Check(
    code="AS012",
    name="description-missing",
    severity="warning",
    summary="A skill has no `description`.",
    why="The model chooses skills by their description. Claude Code falls back to the first paragraph of "
    "the body; other agents skip the skill.",
    hint="Say what the skill does and when to use it.",
    bad={SKILL: skill(description=None)},
    good={SKILL: skill()},
    run=run,
    dialects="all",
)
