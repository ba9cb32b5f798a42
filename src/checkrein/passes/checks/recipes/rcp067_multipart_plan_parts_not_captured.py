"""Parts of a plan that are lost."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example
from checkrein.passes.recipes.dataflow import result_field, writes

_CONTRACT = "outputs: [{name: plan_parts, type: string}]\n"


_PARTS = "plan_parts"


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for one in case.skills:
            outputs = one.contract.outputs if one.contract is not None else ()
            if not writes(one.step) or not any(each.name == _PARTS for each in outputs):
                continue
            if not any(result_field(text) == _PARTS for text in one.step.capture_list.values()):
                message = f"`{one.step.name}` does not take `{_PARTS}` of `{one.name}` as a list"
                yield Finding(origin=one.step.where("capture"), message=message)


CHECK = Check(
    code="RCP067",
    name="multipart-plan-parts-not-captured",
    severity="error",
    summary="A skill reports the parts of a plan, and the step does not take them as a list.",
    why="A plan of several parts arrives as one path, and only that part is built.",
    hint='Add `capture_list: {plan_parts: "${{ result.plan_parts }}"}` and walk over it with `foreach`.',
    bad=example(
        """
        design:
          tool: run_skill
          with: {skill_command: /design, cwd: .}
          capture: {plan: "${{ result.plan_parts }}"}
        build: {tool: run_skill, with: {skill_command: "/build ${{ context.plan }}", cwd: .}}
        """,
        skills={"design": _CONTRACT, "build": ""},
    ),
    good=example(
        """
        design:
          tool: run_skill
          with: {skill_command: /design, cwd: .}
          capture_list: {plan_parts: "${{ result.plan_parts }}"}
        parts:
          foreach: ${{ context.plan_parts }}
          steps:
            build: {tool: run_skill, with: {skill_command: "/build ${{ context.item }}", cwd: .}}
        """,
        skills={"design": _CONTRACT, "build": ""},
    ),
    run=run,
)
