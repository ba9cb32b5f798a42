"""`checkrein recipe show`: one recipe with its inputs and steps, sub-recipes in their places."""

from __future__ import annotations

from msgspec import Struct

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.origin import Origin, Scope
from checkrein.cli.recipe_shelf import ERRORS, INPUT_ARG, RECIPE_ARG
from checkrein.cli.registry import Command, Outcome
from checkrein.cli.target import PROJECT_ARG
from checkrein.model.recipe import RecipeKind
from checkrein.passes.recipes.outline import InputRow, StepRow


class Payload(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`parts` are the sub-recipes whose gates are open. `findings` with an error forbid to run it."""

    name: str
    kind: RecipeKind
    description: str
    scope: Scope
    origin: Origin
    version: str | None = None
    inputs: tuple[InputRow, ...] = ()
    steps: tuple[StepRow, ...] = ()
    dispatches: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    packs: tuple[str, ...] = ()
    workspace: str | None = None
    parts: tuple[str, ...] = ()
    shadows: tuple[Origin, ...] = ()
    findings: tuple[Diagnostic, ...] = ()


COMMAND = Command(
    name="recipe show",
    summary="Show a recipe: its inputs, its steps and where they lead.",
    details="With --input a gate opens, and the steps of its sub-recipe stand in their place.",
    args=(RECIPE_ARG, PROJECT_ARG, INPUT_ARG),
    payload=Payload,
    errors=ERRORS,
    examples=(
        ("checkrein recipe show implement", "what it asks for and does"),
        ("checkrein recipe show implement -i sprint_mode=true", "with the steps behind a gate"),
    ),
)


def run(name: str, project: str, input_: tuple[str, ...]) -> Outcome:
    from checkrein.cli.recipe_shelf import inputs_of, library, recipe_of
    from checkrein.passes.recipes.merge import merge
    from checkrein.passes.recipes.outline import inputs_of_recipe, steps_of
    from checkrein.passes.recipes.validity import problems

    given = inputs_of(input_)
    shelf = library(project, name)
    recipe = recipe_of(shelf, name)
    merged = merge(recipe, shelf, given)
    group = shelf.sub_recipes if recipe.is_sub_recipe else shelf.recipes
    payload = Payload(
        name=recipe.name,
        kind=recipe.kind,
        description=recipe.description or recipe.summary,
        scope=recipe.origin.scope,
        origin=recipe.origin,
        version=recipe.version,
        inputs=inputs_of_recipe(merged.recipe),
        steps=steps_of(merged.recipe.steps),
        dispatches=tuple(one.name for one in recipe.dispatches),
        rules=merged.recipe.kitchen_rules or (),
        packs=merged.recipe.requires_packs,
        workspace=recipe.workspace,
        parts=tuple(one.name for one in merged.parts),
        shadows=tuple(one.item.origin for one in group[recipe.name].shadowed) if recipe.name in group else (),
        findings=tuple(problems(recipe, shelf)),
    )

    def text() -> str:
        from checkrein.cli import recipe_pages

        return recipe_pages.shown(payload)

    return Outcome(data=payload, text=text)
