"""Captures of what a skill does not promise."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example
from checkrein.passes.recipes.dataflow import result_field

_CONTRACT = "outputs: [{name: plan_path}]\n"
_STEPS = """
design:
  tool: run_skill
  with: {skill_command: /design, cwd: .}
  capture: {plan_path: "${{ result.FIELD }}"}
show: {action: stop, message: "See ${{ context.plan_path }}"}
"""


_ALWAYS = frozenset(
    (
        "success",
        "result",
        "summary",
        "session_id",
        "subtype",
        "exit_code",
        "stderr",
        "needs_retry",
        "retry_reason",
        "worktree_path",
        "outputs",
        "error",
        "is_error",
        "token_usage",
        "write_call_count",
    )
)
"""Fields that every result of a worker has."""


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for one in case.skills:
            if one.contract is None or not one.contract.outputs:
                continue
            declared = {each.name for each in one.contract.outputs} | _ALWAYS
            for kind, captured in (("capture", one.step.capture), ("capture_list", one.step.capture_list)):
                for variable, text in captured.items():
                    found = result_field(text)
                    if found is not None and found not in declared:
                        message = f"`{one.step.name}` captures `{found}`, which `{one.name}` does not report"
                        yield Finding(origin=one.step.where(f"{kind}.{variable}"), message=message)


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
