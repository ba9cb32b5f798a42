"""Tools that the configuration switches off."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts.kitchen import kitchen_tools
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import CONFIG, example
from checkrein.passes.visibility.session_view import rules_for
from checkrein.passes.visibility.sights import disabled_subsets

_STEPS = "clean: {tool: batch_cleanup_clones}"


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        rules = rules_for(subject.project, "headless", requires_packs=case.recipe.requires_packs)
        off = disabled_subsets(rules)
        for _, step in case.steps:
            tool = kitchen_tools().get(step.tool or "")
            for category in tool.categories if tool is not None else ():
                if category in off:
                    message = (
                        f"`{step.name}` calls `{step.tool}` of the subset `{category}`, which is disabled"
                    )
                    yield Finding(origin=step.where("tool"), message=message)


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
