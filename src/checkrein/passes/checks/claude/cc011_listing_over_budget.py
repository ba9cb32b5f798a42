"""Descriptions that do not fit into the listing together."""

from __future__ import annotations

import os
from collections.abc import Iterator

from checkrein.facts import claude
from checkrein.model.items import Command, Skill
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SKILL, skill
from checkrein.passes.checks.parts import field, in_effect

_FRACTION = 0.01


def run(subject: Subject) -> Iterator[Finding]:
    project = subject.project
    fraction = project.setting("skillListingBudgetFraction", _FRACTION)
    share = fraction / _FRACTION if isinstance(fraction, int | float) and 0 < fraction <= 1 else 1.0
    budget = int(claude.LISTING_BUDGET_CHARS * share)
    sizes: list[tuple[int, Skill | Command]] = []
    for item in in_effect(project):
        if item.model_invocable and not item.paths and (item.plugin or _is_loaded(item.origin.file)):
            text = item.summary + (item.when_to_use or "")
            sizes.append((len(item.name) + min(len(text), claude.LISTING_DESCRIPTION_CHARS), item))
    total = sum(size for size, _ in sizes)
    if total <= budget:
        return
    largest = max(sizes, key=lambda pair: (pair[0], pair[1].name))[1]
    message = (
        f"The listing of {len(sizes)} skills and commands needs {total:,} characters of {budget:,}; "
        "the least used lose their descriptions"
    )
    yield Finding(origin=field(largest, "description"), message=message)


def _is_loaded(file: str) -> bool:
    """Claude Code loads the skills of `.claude`. A folder of skills is a collection to choose from."""
    return f"{os.sep}{claude.CONFIG_DIR}{os.sep}" in file


CHECK = Check(
    code="CC011",
    name="listing-over-budget",
    severity="warning",
    summary="The descriptions of all skills do not fit into the listing.",
    why="The listing takes 1% of the context window, about 8,000 characters. Over that, Claude Code drops "
    "descriptions, the least used first, and the model no longer knows when to use those skills.",
    hint="Shorten descriptions, set `disable-model-invocation` where only people use a skill, or raise "
    "`skillListingBudgetFraction`.",
    bad={
        f".claude/skills/review-{n}/SKILL.md": skill(
            name=f"review-{n}",
            description=f"Use when part {n} is reviewed. " + f"It looks at part {n}. " * 45,
        )
        for n in range(9)
    },
    good={SKILL: skill()},
    run=run,
    whole=True,
)
