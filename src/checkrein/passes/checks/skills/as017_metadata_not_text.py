"""`metadata` values that are not text."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts.agent_skills import METADATA_SECTIONS
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SKILL, skill
from checkrein.passes.checks.parts import field


def run(subject: Subject) -> Iterator[Finding]:
    for item in subject.project.sources.skills:
        for key, value in item.metadata.items():
            if isinstance(value, dict | list) and key not in METADATA_SECTIONS:
                origin = subject.find(field(item, "metadata"), str(key))
                yield Finding(
                    origin=origin, message=f"`metadata.{key}` of the skill `{item.name}` is not text"
                )


CHECK = Check(
    code="AS017",
    name="metadata-not-text",
    severity="info",
    summary="A value below `metadata` is a list or a map.",
    why="The standard allows text only. Readers turn other values into something like `['a', 'b']` or "
    "drop them.",
    hint="Write one line of text for each key.",
    bad={SKILL: skill("metadata:", "  tags: [quality, style]")},
    good={SKILL: skill("metadata:", "  tags: quality style")},
    run=run,
    dialects="all",
)
