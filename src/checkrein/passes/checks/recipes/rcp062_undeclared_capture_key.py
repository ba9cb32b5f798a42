"""Captures of what a skill does not promise."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts.kitchen_calls import WORKER_RESULT
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example
from checkrein.passes.recipes.dataflow import captures, result_field

_CONTRACT = "outputs: [{name: plan_path}]\n"
_STEPS = """
design:
  tool: run_skill
  with: {skill_command: /design, cwd: .}
  capture: {plan_path: "${{ result.FIELD }}"}
show: {action: stop, message: "See ${{ context.plan_path }}"}
"""


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for one in case.skills:
            if one.contract is None or not one.contract.outputs:
                continue
            declared = {each.name for each in one.contract.outputs} | {*WORKER_RESULT, "summary"}
            for capture in captures(one.step):
                found = result_field(capture.expression)
                if found is not None and found not in declared:
                    message = f"`{one.step.name}` captures `{found}`, which `{one.name}` does not report"
                    yield Finding(origin=one.step.where(capture.field), message=message)


CHECK = Check(
    code="RCP062",
    name="undeclared-capture-key",
    severity="warning",
    summary="A step captures a field that the skill's contract does not have.",
    why="The worker reports the outputs of its contract. The variable stays empty, and the step "
    "that reads it fails.",
    hint="Capture a declared output, or declare this one in `contract.yaml`.",
    bad=example(_STEPS.replace("FIELD", "plan"), skills={"design": _CONTRACT}),
    good=example(_STEPS.replace("FIELD", "plan_path"), skills={"design": _CONTRACT}),
    run=run,
)
