"""Skills that the configuration switches off."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import CONFIG, example
from checkrein.passes.visibility.session_view import rules_for
from checkrein.passes.visibility.sights import categories_of, disabled_subsets

_STEPS = "look: {tool: run_skill, with: {skill_command: /audit-tests, cwd: .}}"


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        rules = rules_for(subject.project, "headless", requires_packs=case.recipe.requires_packs)
        off = disabled_subsets(rules)
        for one in case.skills:
            for category in categories_of(one.item, rules.governance) if one.item is not None else ():
                if category in off:
                    message = (
                        f"`{one.step.name}` runs `{one.name}` of the subset `{category}`, which is disabled"
                    )
                    yield Finding(origin=one.step.where("with.skill_command"), message=message)


CHECK = Check(
    code="RCP054",
    name="subset-disabled-skill",
    severity="warning",
    summary="A step runs a skill of a disabled subset.",
    why="The recipe starts only when the subset is enabled, for the run or for good.",
    hint="Take the subset out of `subsets.disabled`, or let `checkrein recipe run` enable it once.",
    bad=example(_STEPS, more={CONFIG: '[subsets]\ndisabled = ["audit"]\n'}),
    good=example(_STEPS, more={CONFIG: '[subsets]\ndisabled = ["ci"]\n'}),
    run=run,
)
