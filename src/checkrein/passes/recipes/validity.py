"""Whether a recipe may run: what its reader and all checks of recipes say about it and its sub-recipes."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from checkrein.base.diagnostic import Diagnostic
from checkrein.model.project import Candidate, Resolved
from checkrein.model.recipe import Recipe
from checkrein.passes.checks.check import Subject
from checkrein.passes.checks.table import checks_of
from checkrein.passes.recipes.library import Library
from checkrein.passes.recipes.parents import sub_recipes


def problems(recipe: Recipe, library: Library) -> list[Diagnostic]:
    """All findings about a recipe, in the order of file and line. An error forbids to run it."""
    from checkrein.passes.findings import sort

    parts = list(sub_recipes(recipe, library))
    subject = Subject(replace(library.project, recipes=_only((recipe,)), sub_recipes=_only(parts), others={}))
    subject.library = library
    found = [finding for one in (recipe, *parts) for finding in library.problems(one)]
    for check in checks_of("RCP"):
        if check.profile == "default":
            found += check.diagnostics(subject)
    return sort(found)


def errors(found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    return tuple(one for one in found if one.severity == "error")


def _only(recipes: Iterable[Recipe]) -> dict[str, Resolved[Recipe]]:
    return {one.name: Resolved(one.name, one, (Candidate(one),)) for one in recipes}
