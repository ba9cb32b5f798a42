"""Skills that do not get what they need."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example
from checkrein.passes.recipes.skill_inputs import unfilled

_CONTRACT = "inputs: [{name: task, required: true}]\n"


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for one in case.skills:
            for missing in unfilled(one):
                if missing.required:
                    message = (
                        f"`{one.step.name}` runs `{one.name}` without its required input `{missing.name}`"
                    )
                    yield Finding(origin=one.step.where("with.skill_command"), message=message)


CHECK = Check(
    code="RCP041",
    name="missing-ingredient",
    severity="error",
    summary="A step does not pass a required input of its skill.",
    why="The worker starts without the value, guesses one or stops, and has cost its time by then.",
    hint="Pass the input in `skill_command`, by its name or at its place.",
    bad=example(
        """
        build:
          tool: run_skill
          with: {skill_command: /build, cwd: .}
        """,
        skills={"build": _CONTRACT},
    ),
    good=example(
        """
        build:
          tool: run_skill
          with: {skill_command: "/build ${{ inputs.task }}", cwd: .}
        """,
        top="ingredients: {task: {description: What to build}}\n",
        skills={"build": _CONTRACT},
    ),
    run=run,
)
