"""XML tags in a skill's name or description."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SKILL, skill

_TAG = re.compile(r"</?[A-Za-z][^<>\n]*>")


def run(subject: Subject) -> Iterator[Finding]:
    for item in subject.project.sources.skills:
        for name, value in (("name", item.display_name), ("description", item.description)):
            tag = _TAG.search(value or "")
            if tag:
                origin = subject.find(item.where(name), tag[0])
                yield Finding(
                    origin=origin, message=f"`{name}` of the skill `{item.name}` holds the tag `{tag[0]}`"
                )


CHECK = Check(
    code="AS008",
    name="markup-in-description",
    severity="warning",
    summary="A skill's name or description holds XML tags.",
    why="The Skills API refuses them, because it puts descriptions into markup; Claude Code loads the skill.",
    hint="Write the word without angle brackets.",
    bad={SKILL: skill(description="Review a <file>. Use when the user asks for it.")},
    good={SKILL: skill()},
    run=run,
    dialects="all",
    profile="strict",
)
