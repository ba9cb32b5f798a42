"""`checkrein recipe show`: one recipe with its inputs and steps, sub-recipes in their places."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.origin import Origin, Scope
from checkrein.cli.recipe_shelf import ERRORS, INPUT_ARG, RECIPE_ARG
from checkrein.cli.registry import Command, Outcome
from checkrein.cli.target import PROJECT_ARG
from checkrein.model.recipe import Effect, RecipeKind, StepKind

if TYPE_CHECKING:
    from checkrein.model.recipe import Recipe, Step


class InputRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    name: str
    description: str = ""
    required: bool = False
    default: str | None = None
    type: str = "string"
    hidden: bool = False
    authority: str | None = None


class StepRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`routes` are pairs of the outcome (a condition, or success, failure, ...) and the next step. `inside`
    are the steps of bodies."""

    name: str
    kind: StepKind
    what: str
    effect: Effect
    origin: Origin
    routes: tuple[tuple[str, str], ...] = ()
    captures: tuple[str, ...] = ()
    inside: tuple[StepRow, ...] = ()


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
        inputs=_inputs(merged.recipe),
        steps=_steps(merged.recipe.steps),
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


def _inputs(recipe: Recipe) -> tuple[InputRow, ...]:
    return tuple(
        InputRow(
            name=one.name,
            description=one.description,
            required=one.required,
            default=one.default,
            type=one.type,
            hidden=one.hidden,
            authority=one.authority,
        )
        for one in recipe.ingredients
    )


def _steps(steps: tuple[Step, ...]) -> tuple[StepRow, ...]:
    from checkrein.passes.recipes.diagrams import drawn, summary
    from checkrein.passes.recipes.plan import default_effect

    return tuple(
        StepRow(
            name=step.name,
            kind=step.kind,
            what=summary(step),
            effect=step.effect or default_effect(step),
            origin=step.origin,
            routes=tuple((route.when or route.kind, route.target) for route in drawn(steps, step)),
            captures=(*step.capture, *step.capture_list),
            inside=tuple(row for branch in step.branches for row in _steps(branch.steps)),
        )
        for step in steps
    )
