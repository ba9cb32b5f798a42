"""Diagrams that show another state of their recipe."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from checkrein.base.files import read_text
from checkrein.base.origin import Origin, Span
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.recipe_examples import RECIPE, recipe
from checkrein.passes.checks.recipe_parts import recipes
from checkrein.passes.recipes.diagrams import FORMAT, diagram_file, marks

_DIAGRAM = ".checkrein/recipes/diagrams/build.md"
_GOOD = recipe()


def run(subject: Subject) -> Iterator[Finding]:
    for one in recipes(subject):
        file = diagram_file(one)
        found = read_text(file, within=subject.project.place.within)
        if not found.text:
            continue
        held = marks(found.text)
        why = "it says no hash" if held.digest is None else "the recipe has changed since"
        if held.digest == one.digest:
            if held.format in (FORMAT, None):
                continue
            why = f"its form is version {held.format}"
        message = f"The diagram of `{one.name}` is stale: {why}"
        yield Finding(origin=Origin(file, one.origin.scope, Span(1)), message=message)


def _example(text: str) -> str:
    digest = hashlib.sha256(text.encode()).hexdigest()
    marked = f"<!-- checkrein-recipe-hash: sha256:{digest} -->\n<!-- checkrein-diagram-format: {FORMAT} -->\n"
    return f"{marked}\n# build\n"


CHECK = Check(
    code="RCP023",
    name="stale-diagram",
    severity="warning",
    summary="The diagram of a recipe was drawn for another state of it.",
    why="People read a picture of steps that no longer exist.",
    hint="Run `checkrein recipe graph NAME --write`.",
    bad={RECIPE: _GOOD, _DIAGRAM: _example(_GOOD + "\n")},
    good={RECIPE: _GOOD, _DIAGRAM: _example(_GOOD)},
    run=run,
)
