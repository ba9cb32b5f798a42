"""A skill that says nothing."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SKILL, skill
from checkrein.passes.checks.parts import top


def run(subject: Subject) -> Iterator[Finding]:
    for item in subject.project.sources.skills:
        if item.has_frontmatter and not item.body.strip():
            yield Finding(origin=top(item), message=f"The skill `{item.name}` has no body")


CHECK = Check(
    code="AS011",
    name="body-empty",
    severity="warning",
    summary="A skill has frontmatter but no body.",
    why="Using it adds nothing to the conversation.",
    hint="Write what to do below the frontmatter.",
    bad={SKILL: skill(body="")},
    good={SKILL: skill()},
    run=run,
    dialects="all",
)
