"""The parts of recipes that checks walk over."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from checkrein.base.origin import Origin
from checkrein.model.expression import texts_in
from checkrein.model.items import Item
from checkrein.model.recipe import Dispatch, Recipe, Step
from checkrein.passes.checks.check import Subject


class Placed(Struct, frozen=True, kw_only=True):
    """A step with its recipe, the steps beside it, and the steps around its body, outermost first."""

    recipe: Recipe
    beside: tuple[Step, ...]
    step: Step
    around: tuple[Step, ...] = ()


class Said(Struct, frozen=True):
    """A text of a step that may hold expressions. `field` is its path in the step."""

    field: str
    text: str
    is_condition: bool
    origin: Origin


def recipes(subject: Subject) -> Iterator[Recipe]:
    """The recipes and sub-recipes that won their names."""
    for group in (subject.project.recipes, subject.project.sub_recipes):
        for resolved in group.values():
            yield resolved.item


def placed(subject: Subject) -> Iterator[Placed]:
    """Every step of every recipe, those of bodies right after the step that they belong to."""
    for recipe in recipes(subject):
        yield from placed_in(recipe)


def placed_in(recipe: Recipe) -> Iterator[Placed]:
    return _placed(recipe, recipe.steps, ())


def _placed(recipe: Recipe, steps: tuple[Step, ...], around: tuple[Step, ...]) -> Iterator[Placed]:
    for step in steps:
        yield Placed(recipe=recipe, beside=steps, step=step, around=around)
        for branch in step.branches:
            yield from _placed(recipe, branch.steps, (*around, step))


def texts(step: Step) -> Iterator[Said]:
    """What the engine evaluates in a step: arguments, message, conditions, captures."""
    for path, text in texts_in(step.with_args):
        yield Said(f"with.{path}", text, False, _where(step, f"with.{path}"))
    for field in ("capture", "capture_list"):
        for name, text in getattr(step, field).items():
            yield Said(f"{field}.{name}", text, False, _where(step, f"{field}.{name}"))
    for number, arm in enumerate(step.on_result):
        if arm.when is not None:
            yield Said(f"on_result[{number}].when", arm.when, True, arm.origin)
    if step.message is not None:
        yield Said("message", step.message, False, step.where("message"))
    if step.kind == "foreach":
        for path, text in texts_in(step.subject):
            yield Said(f"foreach{path}", text, False, step.where("foreach"))


def dispatch_texts(dispatch: Dispatch) -> Iterator[Said]:
    """The same for a dispatch of a campaign."""
    told = {"task": dispatch.task, "message": dispatch.message, "ingredients": dispatch.ingredients}
    for path, text in texts_in({**told, "capture": dispatch.capture}):
        yield Said(path, text, False, _where(dispatch, path))
    if dispatch.skip_when is not None:
        yield Said("skip_when", dispatch.skip_when, True, dispatch.where("skip_when"))


def every_text(recipe: Recipe) -> Iterator[Said]:
    """What the engine evaluates anywhere in a recipe."""
    for part in placed_in(recipe):
        yield from texts(part.step)
    for dispatch in recipe.dispatches:
        yield from dispatch_texts(dispatch)


def _where(item: Item, path: str) -> Origin:
    """The place of a path, or of the nearest part around it that the file has."""
    while path not in item.spans and "." in path:
        path = path.rpartition(".")[0]
    return item.where(path)
