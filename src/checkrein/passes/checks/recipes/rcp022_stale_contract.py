"""Contract cards that no longer describe their recipe."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.recipe_cards import CARD, card
from checkrein.passes.checks.recipe_examples import RECIPE, TEST, recipe
from checkrein.passes.checks.recipe_parts import recipes
from checkrein.passes.recipes.cards import make_card, read_card, staleness

_GOOD = recipe(TEST)


def run(subject: Subject) -> Iterator[Finding]:
    for one in recipes(subject):
        held = read_card(one, subject.project.place.within)
        if held is None:
            continue
        fields = {"hash_mismatch": "skill_hashes", "block_composition_drift": "block_fingerprints"}
        for stale in staleness(held.card, make_card(one, subject.library, subject.contracts)):
            origin = held.origin(one, fields.get(stale.reason, "version"))
            message = f"The contract card of `{one.name}` is stale ({stale.reason}): {stale.message}"
            yield Finding(origin=origin, message=message)


CHECK = Check(
    code="RCP022",
    name="stale-contract",
    severity="warning",
    summary="A contract card was made for another state of the recipe or its skills.",
    why="What the card says about inputs and outputs may no longer be true.",
    hint="Look at the change, then run `checkrein recipe card NAME --write`.",
    bad={RECIPE: _GOOD, CARD: card().replace('version: "1"', 'version: "0"')},
    good={RECIPE: _GOOD, CARD: card()},
    run=run,
)
