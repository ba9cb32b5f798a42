"""Which names `context` holds when a step starts: what steps before it in the file capture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checkrein.model.recipe import BODY_ITEM, Recipe, Step
from checkrein.passes.recipes.library import Library
from checkrein.passes.recipes.parents import parents_of, placeholders
from checkrein.passes.recipes.routes import every_step


def available(recipe: Recipe, library: Library) -> Iterator[tuple[Step, frozenset[str]]]:
    """Every step with the names that it may read. A sub-recipe may read what its parents capture anywhere."""
    given = {name for parent in parents_of(recipe, library) for name in captured(parent)}
    return _walk(recipe.steps, frozenset(given), library)


def captured(recipe: Recipe) -> frozenset[str]:
    """Every name that a step of the recipe captures, in bodies too."""
    return frozenset(name for step in every_step(recipe) for name in names_of(step))


def names_of(step: Step) -> frozenset[str]:
    return frozenset((*step.capture, *step.capture_list))


def _walk(
    steps: Sequence[Step], known: frozenset[str], library: Library
) -> Iterator[tuple[Step, frozenset[str]]]:
    for step in steps:
        yield step, known
        inside = known | {step.variable or BODY_ITEM} if step.kind == "foreach" else known
        for branch in step.branches:
            yield from _walk(branch.steps, inside, library)
        known |= names_of(step) | _of_part(step, library)


def _of_part(step: Step, library: Library) -> frozenset[str]:
    """What the sub-recipe of a placeholder captures, with all that it contains."""
    found: set[str] = set()
    seen: set[str] = set()
    pending = [step] if step.kind == "sub_recipe" else []
    while pending:
        name = str(pending.pop().subject)
        part = None if name in seen else library.sub_recipe(name)
        seen.add(name)
        if part is not None:
            found |= captured(part)
            pending += placeholders(part)
    return frozenset(found)
