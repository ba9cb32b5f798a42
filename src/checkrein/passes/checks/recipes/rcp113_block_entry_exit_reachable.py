"""Blocks with several ways in or out."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example
from checkrein.passes.recipes.blocks import blocks

_STEPS = """
look: {action: confirm, message: Quick?, on_success: one, on_failure: two}
one: {action: confirm, message: Really?, SUCCESS, on_failure: end, block: work}
two: {action: confirm, message: Sure?, on_success: end, on_failure: end, block: work}
end: {action: stop, message: Finished}
"""


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for flow in case.flows:
            for block in blocks(flow):
                for word, steps in (("entries", block.entries), ("exits", block.exits)):
                    if len(steps) > 1:
                        named = ", ".join(f"`{step.name}`" for step in steps)
                        message = f"The block `{block.name}` has {len(steps)} {word}: {named}"
                        yield Finding(origin=steps[1].origin, message=message)


CHECK = Check(
    code="RCP113",
    name="block-entry-exit-reachable",
    severity="warning",
    summary="A block has not one entry and one exit.",
    why="A block stands for one piece of work. With a second way in or out, what holds at its end "
    "depends on the path.",
    hint="Route into its first step only, and out of its last.",
    bad=example(_STEPS.replace("SUCCESS", "on_success: end")),
    good=example(_STEPS.replace("SUCCESS", "on_success: two")),
    run=run,
)
