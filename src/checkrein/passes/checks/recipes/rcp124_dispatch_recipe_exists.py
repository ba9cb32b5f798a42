"""Dispatches of recipes that do not exist."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import campaign
from checkrein.passes.checks.parts import field
from checkrein.passes.checks.recipe_cases import dispatched, meant

_FIRST = "- name: first\n  recipe: repair\n  task: Mend it\n"


def run(subject: Subject) -> Iterator[Finding]:
    for case, dispatch in dispatched(subject):
        if dispatch.gate is not None or case.library.recipe(dispatch.recipe or "") is not None:
            continue
        what = f"runs `{dispatch.recipe}`, which is no recipe" if dispatch.recipe else "names no recipe"
        yield Finding(
            origin=field(dispatch, "recipe"),
            message=f"`{dispatch.name}` {what}",
            hint=meant(dispatch.recipe or "", case.library.recipes),
        )


CHECK = Check(
    code="RCP124",
    name="dispatch-recipe-exists",
    severity="error",
    summary="A dispatch names no recipe that is there.",
    why="The campaign stops at this dispatch.",
    hint="Name a recipe of the project or a bundled one.",
    bad=campaign(_FIRST.replace("repair", "repiar")),
    good=campaign(_FIRST),
    run=run,
)
