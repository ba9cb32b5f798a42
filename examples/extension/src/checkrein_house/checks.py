"""Every skill names the team that looks after it."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein import Check, Finding, Subject


def run(subject: Subject) -> Iterator[Finding]:
    for skill in subject.project.sources.skills:
        if not skill.metadata.get("owner"):
            message = f"The skill `{skill.name}` names no owner"
            yield Finding(origin=skill.where("metadata"), message=message)


_HEAD = "---\nname: review\ndescription: Review a change. Use when the user asks for a review.\n"

SKILL_OWNER = Check(
    code="HOUSE001",
    name="skill-without-owner",
    severity="warning",
    summary="A skill names no owner.",
    why="Nobody is asked when it no longer works.",
    hint="Write the team below `metadata`, as `owner: payments`.",
    bad={".claude/skills/review/SKILL.md": f"{_HEAD}---\nRead the diff.\n"},
    good={".claude/skills/review/SKILL.md": f"{_HEAD}metadata:\n  owner: payments\n---\nRead the diff.\n"},
    run=run,
    dialects="all",
)

CHECKS = (SKILL_OWNER,)
