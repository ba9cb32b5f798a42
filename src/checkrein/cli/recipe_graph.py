"""`checkrein recipe graph`: a recipe as a picture."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from checkrein.cli.recipe_shelf import ERRORS, INPUT_ARG, RECIPE_ARG
from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.target import PROJECT_ARG

Form = Literal["text", "mermaid"]


class Payload(Struct, frozen=True, omit_defaults=True):
    """`written` is the file of the diagram, with --write."""

    name: str
    form: Form
    graph: str
    written: str | None = None


COMMAND = Command(
    name="recipe graph",
    summary="Draw a recipe as text or as a Mermaid diagram.",
    args=(
        RECIPE_ARG,
        PROJECT_ARG,
        INPUT_ARG,
        Arg(
            name="form",
            flags=("--form",),
            type="choice",
            choices=("text", "mermaid"),
            default="text",
            help="Text, or the language of Mermaid.",
        ),
        Arg(
            name="write",
            flags=("--write",),
            type="bool",
            help="Write `diagrams/NAME.md` beside the recipe; `checkrein check` says when it is stale.",
        ),
    ),
    payload=Payload,
    errors=(*ERRORS, "recipe_not_own"),
    examples=(
        ("checkrein recipe graph implement", "the steps and where they lead"),
        ("checkrein recipe graph implement --form mermaid", "for a page that draws it"),
    ),
)


def run(name: str, project: str, input_: tuple[str, ...], form: Form, write: bool) -> Outcome:
    from checkrein.cli.recipe_shelf import inputs_of, library, recipe_of, write_beside
    from checkrein.passes.recipes import diagrams
    from checkrein.passes.recipes.merge import merge

    given = inputs_of(input_)
    shelf = library(project, name)
    recipe = recipe_of(shelf, name)
    whole = merge(recipe, shelf, given).recipe
    graph = diagrams.mermaid(whole) if form == "mermaid" else diagrams.plain(whole)
    written = None
    if write:
        written = write_beside(recipe, diagrams.diagram_file(recipe), diagrams.diagram(recipe))
    payload = Payload(recipe.name, form, graph, written)

    def text() -> str:
        return graph.rstrip("\n") if written is None else f"Wrote {written}."

    return Outcome(data=payload, text=text, is_data=True)
