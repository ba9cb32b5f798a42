"""Values of dispatches that come later."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.model.expression import condition_references, references_in
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import campaign
from checkrein.passes.checks.recipe_cases import dispatched
from checkrein.passes.recipes.campaign_order import captured_before

_FIRST = "- name: first\n  recipe: repair\n  task: Mend it\n"
_SECOND = "- {name: second, recipe: repair, task: 'Since ${{ campaign.NAME }}', depends_on: [first]}\n"


def run(subject: Subject) -> Iterator[Finding]:
    for case, dispatch in dispatched(subject):
        known = captured_before(case.recipe, dispatch)
        texts = {
            "task": dispatch.task,
            "message": dispatch.message,
            **{f"ingredients.{name}": value for name, value in dispatch.ingredients.items()},
        }
        reads = [(place, one) for place, value in texts.items() for one in references_in(value)]
        reads += [("skip_when", one) for one in condition_references(dispatch.skip_when or "")]
        for place, reference in reads:
            if reference.namespace == "campaign" and reference.name not in known:
                message = f"`{dispatch.name}` reads `{reference}`, which no dispatch before it captures"
                yield Finding(origin=dispatch.where(place), message=message)


CHECK = Check(
    code="RCP136",
    name="campaign-ingredient-refs-have-prior-capture",
    severity="error",
    summary="A dispatch reads `campaign.NAME`, and none before it captures that.",
    why="The value does not exist when the dispatch starts.",
    hint="Capture it in a dispatch before this one, and name that in `depends_on`.",
    bad=campaign(_FIRST + "  capture: {sha: '${{ result.sha }}'}\n" + _SECOND.replace("NAME", "shaa")),
    good=campaign(_FIRST + "  capture: {sha: '${{ result.sha }}'}\n" + _SECOND.replace("NAME", "sha")),
    run=run,
)
