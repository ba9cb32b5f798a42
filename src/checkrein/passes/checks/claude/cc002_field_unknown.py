"""Frontmatter fields that Claude Code does not read."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SKILL, skill
from checkrein.passes.checks.fieldnames import strangers
from checkrein.passes.checks.parts import a_noun


def run(subject: Subject) -> Iterator[Finding]:
    unknown = (one for one in strangers(subject.project) if one.meant is None and not one.other)
    for _, group in groupby(unknown, lambda one: id(one.owner)):
        first, *others = group
        names = ", ".join(f"`{one.name}`" for one in (first, *others))
        verb, rest = ("are not fields", "they are ignored") if others else ("is not a field", "it is ignored")
        message = f"{names} {verb} of {a_noun(first.owner)}; {rest}"
        yield Finding(origin=subject.find(first.origin, first.name), message=message)


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
