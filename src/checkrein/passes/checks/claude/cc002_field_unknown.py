"""Frontmatter fields that Claude Code does not read."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SKILL, skill
from checkrein.passes.checks.fieldnames import strangers
from checkrein.passes.checks.parts import a_noun


def run(subject: Subject) -> Iterator[Finding]:
    for found in strangers(subject.project):
        if found.meant is None and not found.other:
            message = f"`{found.name}` is not a field of {a_noun(found.owner)}; it is ignored"
            yield Finding(origin=subject.find(found.origin, found.name), message=message)


CHECK = Check(
    code="CC002",
    name="field-unknown",
    severity="info",
    summary="A frontmatter field is unknown.",
    why="Claude Code ignores it, and strict validators of the Agent Skills standard refuse the skill.",
    hint="Remove it, or move it below `metadata`.",
    bad={SKILL: skill("rating: 5")},
    good={SKILL: skill("metadata:", "  rating: five")},
    run=run,
)
