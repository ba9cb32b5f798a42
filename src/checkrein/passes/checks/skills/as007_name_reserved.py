"""A skill name with a word that the Skills API reserves."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts import claude
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SKILL, skill
from checkrein.passes.checks.parts import field


def run(subject: Subject) -> Iterator[Finding]:
    for item in subject.project.sources.skills:
        name = item.display_name or item.name
        word = next((word for word in claude.RESERVED_SKILL_WORDS if word in name.lower()), None)
        if word:
            message = f"The skill's name `{name}` holds the reserved word `{word}`"
            yield Finding(origin=field(item, "name"), message=message)


CHECK = Check(
    code="AS007",
    name="name-reserved",
    severity="warning",
    summary="A skill's name holds a word that the Skills API reserves.",
    why="The Skills API refuses the upload. Claude Code itself loads the skill.",
    hint="Choose a name without `anthropic` and `claude`.",
    bad={".claude/skills/claude-review/SKILL.md": skill(name="claude-review")},
    good={SKILL: skill()},
    run=run,
    profile="strict",
)
