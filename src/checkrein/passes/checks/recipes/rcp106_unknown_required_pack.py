"""Packs that do not exist."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts.kitchen import categories
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example
from checkrein.passes.checks.recipe_cases import meant
from checkrein.passes.visibility.session_view import governance_of

_STEPS = "end: {action: stop, message: Finished}"


def run(subject: Subject) -> Iterator[Finding]:
    governance = governance_of(subject.project)
    for case in subject.cases:
        known = {
            *categories(),
            *governance.custom_tags,
            *(one for item in case.shelf.items.values() for one in item.categories),
        }
        for number, name in enumerate(case.recipe.requires_packs):
            if name not in known:
                yield Finding(
                    origin=case.recipe.where(f"requires_packs[{number}]"),
                    message=f"`requires_packs` names `{name}`, which is no category",
                    hint=meant(name, known),
                )


CHECK = Check(
    code="RCP106",
    name="unknown-required-pack",
    severity="warning",
    summary="`requires_packs` names a pack that is no category.",
    why="Nothing is switched on by it, and the skills that the recipe means stay hidden.",
    hint="Name a category.",
    bad=example(_STEPS, top="requires_packs: [reserach]\n"),
    good=example(_STEPS, top="requires_packs: [research]\n"),
    run=run,
)
