"""Blocks that write one value twice."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.model.recipe import Step
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example
from checkrein.passes.recipes.blocks import blocks
from checkrein.passes.recipes.dataflow import writes

_STEPS = """
one: {constant: 1, capture: {sha: "1"}, block: start}
two: {constant: 2, capture: {NAME: "2"}, block: start}
end: {action: stop, message: "From ${{ context.sha }} to ${{ context.NAME }}"}
"""


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for flow in case.flows:
            for block in blocks(flow):
                first: dict[str, Step] = {}
                for step in block.steps:
                    for variable in writes(step):
                        other = first.setdefault(variable, step)
                        if other is not step:
                            message = (
                                f"`{step.name}` captures `{variable}` of the block as `{other.name}` does"
                            )
                            yield Finding(
                                origin=step.where("capture"), message=message, related=(other.origin,)
                            )


CHECK = Check(
    code="RCP112",
    name="block-single-producer",
    severity="warning",
    summary="Two steps of a block capture the same variable.",
    why="Which of the two values counts depends on the path through the block.",
    hint="Let one step capture it, or use two names.",
    bad=example(_STEPS.replace("NAME", "sha")),
    good=example(_STEPS.replace("NAME", "base")),
    run=run,
)
