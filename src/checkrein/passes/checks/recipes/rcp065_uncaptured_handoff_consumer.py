"""File inputs that hang in the air."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.model.skill_contract import PATH_TYPES
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example
from checkrein.passes.recipes.skill_inputs import unfilled

_DESIGN = "write_behavior: none\n"
_BUILD = "inputs: [{name: plan_path, type: file_path}]\n"
_STEPS = """
design: {tool: run_skill, with: {skill_command: /design, cwd: .}}
build: {tool: run_skill, with: {skill_command: "/buildARGUMENT", cwd: .}}
"""


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for one in case.skills:
            before = one.flow.before(one.step.name)
            silent = [
                other.step.name
                for other in case.skills
                if other.flow is one.flow
                and other.step.name in before
                and other.step is not one.step
                and other.contract is not None
                and not other.contract.outputs
            ]
            for missing in unfilled(one) if silent else ():
                if missing.type in PATH_TYPES and not missing.required and not missing.recommended:
                    message = (
                        f"`{one.step.name}` passes no `{missing.name}`, and `{silent[0]}` reports no file"
                    )
                    yield Finding(origin=one.step.where("with.skill_command"), message=message)


CHECK = Check(
    code="RCP065",
    name="uncaptured-handoff-consumer",
    severity="warning",
    summary="A skill with a file as input gets none, after a skill that reports nothing.",
    why="The earlier skill may well have written the file, but its contract does not say where. "
    "This one has to guess.",
    hint="Declare the file as an output of the earlier skill, capture it, and pass it here.",
    bad=example(_STEPS.replace("ARGUMENT", ""), skills={"design": _DESIGN, "build": _BUILD}),
    good=example(_STEPS.replace("ARGUMENT", " plan.md"), skills={"design": _DESIGN, "build": _BUILD}),
    run=run,
)
