"""Steps that run skills, beside what the recipe's contract card says about them."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from checkrein.base.origin import Origin
from checkrein.model.expression import references_in
from checkrein.model.recipe import Step
from checkrein.model.recipe_card import CardStep
from checkrein.passes.checks.check import Subject
from checkrein.passes.checks.examples import SKILL, skill
from checkrein.passes.checks.recipe_parts import recipes
from checkrein.passes.recipes.captures import available
from checkrein.passes.recipes.cards import digest_of, read_card

CARD = ".checkrein/recipes/contracts/build.yaml"
REVIEW = {SKILL: skill()}
SKILL_STEP = """\
  review:
    tool: run_skill
    with: {skill_command: "/review%s", cwd: .}
    capture: {report: "${{ result.report }}"}
    on_context_limit: failed
    on_success: tell
    on_failure: failed
  tell:
    tool: run_cmd
    with: {cmd: "cat ${{ context.report | quote }}", cwd: .}
    on_success: over
    on_failure: failed
"""


class CardedStep(Struct, frozen=True, kw_only=True):
    """`known` are the names that the step may read, `passed` those that its arguments name; `origin` is the
    row of the card."""

    step: Step
    row: CardStep
    known: frozenset[str]
    passed: frozenset[str]
    origin: Origin


def card_steps(subject: Subject) -> Iterator[CardedStep]:
    for one in recipes(subject):
        held = read_card(one, subject.project.place.within)
        if held is None:
            continue
        rows = {row.step: (number, row) for number, row in enumerate(held.card.dataflow)}
        inputs = {ingredient.name for ingredient in one.ingredients}
        for step, known in available(one, subject.library):
            if step.skill is not None and step.name in rows:
                number, row = rows[step.name]
                yield CardedStep(
                    step=step,
                    row=row,
                    known=known | inputs,
                    passed=frozenset((*step.with_args, *(ref.name for ref in references_in(step.with_args)))),
                    origin=held.origin(one, f"dataflow[{number}]"),
                )


def card(required: str | None = None) -> str:
    """A card for the example `build`."""
    if required is None:
        return 'version: "1"\nskill_hashes: {}\n'
    row = f"{{step: review, required: [{required}], produced: [report]}}"
    return f'version: "1"\nskill_hashes: {{review: "{digest_of(skill())}"}}\ndataflow:\n- {row}\n'
