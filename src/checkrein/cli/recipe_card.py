"""`checkrein recipe card`: what the steps of a recipe need from skills and give to each other."""

from __future__ import annotations

from msgspec import Struct

from checkrein.cli.recipe_shelf import ERRORS, RECIPE_ARG
from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.target import PROJECT_ARG
from checkrein.model.recipe_card import Card, Stale


class Payload(Struct, frozen=True, omit_defaults=True):
    """`stale` says why the card in the file no longer fits; `written` is the file, with --write."""

    name: str
    card: Card
    stale: tuple[Stale, ...] = ()
    written: str | None = None


COMMAND = Command(
    name="recipe card",
    summary="Print the contract card of a recipe: skills with their hashes, and the flow of values.",
    args=(
        RECIPE_ARG,
        PROJECT_ARG,
        Arg(
            name="write",
            flags=("--write",),
            type="bool",
            help="Write `contracts/NAME.yaml` beside the recipe; `checkrein check` says when it is stale.",
        ),
    ),
    payload=Payload,
    errors=(*ERRORS, "recipe_not_own"),
    examples=(("checkrein recipe card implement --write", "after a look at what changed"),),
)


def run(name: str, project: str, write: bool) -> Outcome:
    from checkrein.cli.recipe_shelf import library, recipe_of, write_beside
    from checkrein.passes.recipes import cards
    from checkrein.passes.recipes.contracts import Contracts

    shelf = library(project, name)
    recipe = recipe_of(shelf, name)
    card = cards.make_card(recipe, shelf, Contracts(shelf.project))
    held = cards.read_card(recipe, shelf.project.place.within)
    stale = () if held is None else tuple(cards.staleness(held.card, card))
    written = write_beside(recipe, cards.card_file(recipe), cards.card_text(card)) if write else None
    payload = Payload(recipe.name, card, () if write else stale, written)

    def text() -> str:
        if written is not None:
            return f"Wrote {written}."
        reasons = [f"# stale ({one.reason}): {one.message}" for one in stale]
        return "\n".join([*reasons, cards.card_text(card).rstrip("\n")])

    return Outcome(data=payload, text=text, is_data=True)
