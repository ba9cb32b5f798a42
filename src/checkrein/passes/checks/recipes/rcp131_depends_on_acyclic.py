"""Dispatches that wait for each other."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import campaign
from checkrein.passes.checks.parts import field
from checkrein.passes.checks.recipe_cases import campaigns
from checkrein.passes.recipes.campaign_order import ancestors

_FIRST = "- name: first\n  recipe: repair\n  task: Mend it\n"
_SECOND = "- {name: second, recipe: repair, task: Mend more, depends_on: [first]}\n"


def run(subject: Subject) -> Iterator[Finding]:
    for case in campaigns(subject):
        for dispatch in case.recipe.dispatches:
            if dispatch.name in ancestors(case.recipe, dispatch):
                message = f"`{dispatch.name}` waits for itself, over {', '.join(dispatch.depends_on)}"
                yield Finding(origin=field(dispatch, "depends_on"), message=message)


CHECK = Check(
    code="RCP131",
    name="depends-on-acyclic",
    severity="error",
    summary="Dispatches wait for each other in a circle.",
    why="None of them can start.",
    hint="Take one `depends_on` out.",
    bad=campaign(_FIRST + "  depends_on: [second]\n" + _SECOND),
    good=campaign(_FIRST + _SECOND),
    run=run,
)
