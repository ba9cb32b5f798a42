"""Prose in the place of a value that the run already has."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example
from checkrein.passes.recipes.dataflow import producers
from checkrein.passes.recipes.skill_call import is_prose
from checkrein.passes.recipes.skill_inputs import filled

_DESIGN = "outputs: [{name: plan_path}]\n"
_BUILD = "inputs: [{name: plan_path, required: true}]\n"
_STEPS = """
design:
  tool: run_skill
  with: {{skill_command: /design, cwd: .}}
  capture: {{plan_path: "${{{{ result.plan_path }}}}"}}
build:
  tool: run_skill
  with: {{skill_command: "/build {plan}", cwd: .}}
end: {{action: stop, message: "Built ${{{{ context.plan_path }}}}"}}
"""


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for one in case.skills:
            before = one.flow.before(one.step.name)
            for taken, argument in filled(one):
                if taken.required and is_prose(argument) and producers(one.flow, taken.name) & before:
                    message = f"`{one.step.name}` passes `{argument}` for `{taken.name}`, which was captured"
                    hint = f"Pass `${{{{ context.{taken.name} }}}}`."
                    yield Finding(origin=one.step.where("with.skill_command"), message=message, hint=hint)


CHECK = Check(
    code="RCP043",
    name="shadowed-required-input",
    severity="error",
    summary="A required input gets prose although an earlier step captured its value.",
    why="The text in the file stays the same in every run; what the earlier step found never "
    "reaches the skill.",
    hint="Pass the captured value: `${{ context.NAME }}`.",
    bad=example(
        _STEPS.format(plan="the-plan.md"),
        skills={"design": _DESIGN, "build": _BUILD},
    ),
    good=example(
        _STEPS.format(plan="${{ context.plan_path }}"),
        skills={"design": _DESIGN, "build": _BUILD},
    ),
    run=run,
)
