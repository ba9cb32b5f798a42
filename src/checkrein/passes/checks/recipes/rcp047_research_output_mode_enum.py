"""Research that ends in an unknown way."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts.recipe_rules import rule_facts
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example
from checkrein.passes.checks.recipe_cases import literal
from checkrein.passes.recipes.path_facts import compared

_STEPS = "end: {action: stop, message: 'As ${{ inputs.output_mode }}'}"
_INPUTS = "ingredients: {{output_mode: {{description: Where the report goes, default: {mode}}}}}\n"


_INPUT = "output_mode"


def run(subject: Subject) -> Iterator[Finding]:
    modes = rule_facts().research.output_modes
    for case in subject.cases:
        recipe = case.recipe
        declared = recipe.ingredient(_INPUT)
        if declared is None or not (
            recipe.name.startswith("research") or "research" in recipe.requires_packs
        ):
            continue
        if literal(declared.default) and declared.default not in modes:
            message = f"`{_INPUT}` is `{declared.default}` by default; it must be {' or '.join(modes)}"
            yield Finding(origin=declared.where("default"), message=message)
        for _, step in case.steps:
            for arm in step.on_result:
                for reference, value in compared(arm.when or ""):
                    if str(reference) == f"inputs.{_INPUT}" and value not in modes:
                        message = f"`{step.name}` compares `{_INPUT}` with `{value}`, which it never is"
                        yield Finding(origin=arm.origin, message=message)


CHECK = Check(
    code="RCP047",
    name="research-output-mode-enum",
    severity="error",
    summary="`output_mode` of a research recipe is not a known one.",
    why="No arm of the recipe fits, so the research is done and its report goes nowhere.",
    hint="Write `pr` or `local`.",
    bad=example(_STEPS, name="research-topic", top=_INPUTS.format(mode="email")),
    good=example(_STEPS, name="research-topic", top=_INPUTS.format(mode="local")),
    run=run,
)
