"""Sub-recipes in their places: the recipe that is checked, shown and run is the merged one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from checkrein.model.expression_value import is_on
from checkrein.model.recipe import DONE, ESCALATE, Ingredient, Recipe, Step, input_name
from checkrein.passes.recipes.library import Library
from checkrein.passes.recipes.routes import following, rerouted, with_bodies

_DEEPEST = 20
_MOST_STEPS = 10_000


class Merged(Struct, frozen=True, kw_only=True):
    """The recipe without placeholders; `parts` are the sub-recipes in it. `missing` are the placeholders
    whose sub-recipe does not exist, contains itself, or would make the recipe too large."""

    recipe: Recipe
    parts: tuple[Recipe, ...] = ()
    missing: tuple[Step, ...] = ()


def merge(recipe: Recipe, library: Library, inputs: Mapping[str, Any]) -> Merged:
    """A placeholder whose gate is on becomes the steps of its sub-recipe, one whose gate is off disappears.

    The gate's value is the given input, else the default of the ingredient.
    """
    merger = _Merger(library, inputs)
    merger.take(recipe)
    steps = merger.merged(recipe.steps, ())
    whole = replace(
        recipe,
        steps=steps,
        ingredients=tuple(merger.ingredients.values()),
        kitchen_rules=recipe.kitchen_rules if not merger.parts else tuple(dict.fromkeys(merger.rules)),
        requires_packs=tuple(dict.fromkeys(merger.packs)),
    )
    return Merged(recipe=whole, parts=tuple(merger.parts), missing=tuple(merger.missing))


class _Merger:
    def __init__(self, library: Library, inputs: Mapping[str, Any]) -> None:
        self.library = library
        self.inputs = inputs
        self.ingredients: dict[str, Ingredient] = {}
        self.rules: list[str] = []
        self.packs: list[str] = []
        self.parts: list[Recipe] = []
        self.missing: list[Step] = []
        self.prefixes: set[str] = set()
        self.count = 0

    def take(self, recipe: Recipe) -> None:
        """The parent's ingredient stays where both have one."""
        for ingredient in recipe.ingredients:
            self.ingredients.setdefault(ingredient.name, ingredient)
        self.rules += recipe.kitchen_rules or ()
        self.packs += recipe.requires_packs

    def merged(self, steps: tuple[Step, ...], chain: tuple[str, ...]) -> tuple[Step, ...]:
        if chain or any(step.kind == "sub_recipe" for step in steps):
            steps = tuple(_explicit(step, steps) for step in steps)
        found: list[Step] = []
        renamed: dict[str, str] = {}
        for step in steps:
            if step.kind != "sub_recipe":
                found.append(with_bodies(step, lambda inner: self.merged(inner, chain)))
                continue
            inside = self._inside(step, chain)
            if inside is None:
                found.append(step)
                continue
            renamed[step.name] = inside[0].name if inside else step.on_success or DONE
            found += inside
        if not renamed:
            return tuple(found)
        kept = tuple(rerouted(step, lambda target: _final(target, renamed)) for step in found)
        return _entered(kept, _final(steps[0].name, renamed), steps[0])

    def _inside(self, step: Step, chain: tuple[str, ...]) -> list[Step] | None:
        """The steps for a placeholder; none when its gate is off; None when it can't be merged."""
        if not self._is_open(step):
            return []
        sub = self.library.sub_recipe(str(step.subject))
        self.count += len(sub.steps) if sub is not None else 0
        is_endless = str(step.subject) in chain or len(chain) >= _DEEPEST or self.count > _MOST_STEPS
        if sub is None or is_endless or not sub.steps:
            self.missing.append(step)
            return None
        self.take(sub)
        self.parts.append(sub)
        inner = self.merged(sub.steps, (*chain, sub.name))
        names = {one.name for one in inner}
        ends = {DONE: step.on_success or DONE, ESCALATE: step.on_failure or ESCALATE}
        prefix = self._prefix(sub.name, step.name)

        def target(written: str) -> str:
            return ends.get(written) or (f"{prefix}{written}" if written in names else written)

        return [replace(rerouted(one, target), name=f"{prefix}{one.name}") for one in inner]

    def _prefix(self, sub_recipe: str, step: str) -> str:
        """The sub-recipe's name; a second use of it has the name of its placeholder as well."""
        found = f"{sub_recipe}_"
        if found in self.prefixes:
            found = f"{step}_{sub_recipe}_"
        self.prefixes.add(found)
        return found

    def _is_open(self, step: Step) -> bool:
        if step.gate is None:
            return True
        name = input_name(step.gate)
        if name in self.inputs:
            return is_on(self.inputs[name])
        ingredient = self.ingredients.get(name)
        return ingredient is not None and is_on(ingredient.default)


def _explicit(step: Step, steps: tuple[Step, ...]) -> Step:
    """The step with the routes that its place gives it: merging changes the order."""
    changed: dict[str, str] = {}
    if step.on_success is None and not step.on_result and step.kind != "stop":
        changed["on_success"] = following(steps, step)
    if step.on_failure is None and step.kind not in ("route", "constant", "stop"):
        changed["on_failure"] = ESCALATE
    return replace(step, **changed)


def _final(target: str, renamed: Mapping[str, str]) -> str:
    seen: set[str] = set()
    while target in renamed and target not in seen:
        seen.add(target)
        target = renamed[target]
    return target


def _entered(steps: tuple[Step, ...], entry: str, first: Step) -> tuple[Step, ...]:
    """The steps with the entry first. Where the first step is gone and led to the end, a route remains."""
    at = next((number for number, step in enumerate(steps) if step.name == entry), None)
    if at is None:
        way = Step(name=first.name, origin=first.origin, kind="route", on_success=entry)
        return (way, *steps)
    return (steps[at], *steps[:at], *steps[at + 1 :])
