"""Sub-recipes that do not exist."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Files, Finding, Subject
from checkrein.passes.checks.kitchen_examples import RECIPES, example, recipe
from checkrein.passes.checks.recipe_cases import meant

_TOP = "ingredients: {fast: {description: Whether to hurry, default: 'true'}}\n"
_STEPS = "first: {sub_recipe: NAME, gate: fast, on_success: done}"
_SUB: Files = {
    f"{RECIPES}/sub-recipes/prefix.yaml": recipe("go: {action: route, on_success: done}", name="prefix")
}


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for _, step in case.steps:
            name = str(step.subject)
            if step.kind == "sub_recipe" and case.library.sub_recipe(name) is None:
                yield Finding(
                    origin=step.where("sub_recipe"),
                    message=f"`{step.name}` names the sub-recipe `{name}`, which does not exist",
                    hint=meant(name, case.library.sub_recipes),
                )


CHECK = Check(
    code="RCP107",
    name="unknown-sub-recipe",
    severity="error",
    summary="A step names a sub-recipe that is not there.",
    why="Its steps can't be merged, so the recipe can't run.",
    hint="Put the file into `sub-recipes/` beside the recipe, or mend the name.",
    bad=example(_STEPS.replace("NAME", "prefixx"), top=_TOP, more=_SUB),
    good=example(_STEPS.replace("NAME", "prefix"), top=_TOP, more=_SUB),
    run=run,
)
