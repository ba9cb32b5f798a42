"""Tools that the configuration switches off."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import CONFIG, example
from checkrein.passes.recipes.subset_gate import needs

_STEPS = "clean: {tool: batch_cleanup_clones}"


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for need in needs(case.recipe, case.library):
            if need.kind == "tool":
                message = f"A step calls `{need.name}` of the subset `{need.subset}`, which is disabled"
                related = (need.switch,) if need.switch is not None else ()
                yield Finding(origin=need.origin, message=message, related=related)


CHECK = Check(
    code="RCP049",
    name="subset-disabled-tool",
    severity="warning",
    summary="A step calls a tool of a disabled subset.",
    why="The recipe starts only when the subset is enabled, for the run or for good.",
    hint="Take the subset out of `subsets.disabled`, or let `checkrein recipe run` enable it once.",
    bad=example(_STEPS, more={CONFIG: '[subsets]\ndisabled = ["clone"]\n'}),
    good=example(_STEPS, more={CONFIG: '[subsets]\ndisabled = ["github"]\n'}),
    run=run,
)
