"""Dispatches with several predecessors."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import campaign
from checkrein.passes.checks.parts import field
from checkrein.passes.checks.recipe_cases import dispatched

_ALL = """
- {name: first, recipe: repair, task: Mend it}
- {name: second, recipe: repair, task: Mend more, depends_on: [first]}
- {name: third, recipe: repair, task: Mend the rest, depends_on: [BEFORE]}
"""


def run(subject: Subject) -> Iterator[Finding]:
    for _, dispatch in dispatched(subject):
        if len(dispatch.depends_on) > 1:
            message = (
                f"`{dispatch.name}` waits for {len(dispatch.depends_on)} dispatches, and may wait for one"
            )
            yield Finding(origin=field(dispatch, "depends_on"), message=message)


CHECK = Check(
    code="RCP132",
    name="campaign-dispatch-depends-on-is-sequential",
    severity="error",
    summary="A dispatch waits for more than one other.",
    why="A campaign is a chain: each dispatch has at most one before it.",
    hint="Name the last of them only, and let the others wait for each other.",
    bad=campaign(_ALL.replace("BEFORE", "first, second")),
    good=campaign(_ALL.replace("BEFORE", "second")),
    run=run,
)
