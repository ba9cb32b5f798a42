"""Skills that the model can't tell apart."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.model.items import Command, Skill
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SKILL, skill
from checkrein.passes.checks.parts import field, in_effect


def run(subject: Subject) -> Iterator[Finding]:
    seen: dict[str, Skill | Command] = {}
    for item in in_effect(subject.project):
        text = (item.description or "").strip().lower()
        if (
            not text
            or not item.model_invocable
            or item.plugin != (first := seen.setdefault(text, item)).plugin
        ):
            continue
        if first is not item:
            message = f"`{item.name}` and `{first.name}` have the same description"
            yield Finding(
                origin=field(item, "description"), message=message, related=(field(first, "description"),)
            )


CHECK = Check(
    code="XP018",
    name="same-description",
    severity="warning",
    summary="Two skills have the same description.",
    why="The model chooses by description; it picks one of the two by chance.",
    hint="Say in each how it differs, or merge them.",
    bad={SKILL: skill(), ".claude/skills/audit/SKILL.md": skill(name="audit")},
    good={
        SKILL: skill(),
        ".claude/skills/audit/SKILL.md": skill(
            name="audit", description="Audit a release. Use when one is cut."
        ),
    },
    run=run,
    dialects="all",
)
