"""Skills that do not get what they should."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example
from checkrein.passes.recipes.skill_inputs import unfilled

_CONTRACT = "inputs: [{name: style, recommended: true}]\n"


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for one in case.skills:
            for missing in unfilled(one):
                if missing.recommended and not missing.required:
                    message = (
                        f"`{one.step.name}` runs `{one.name}` without its recommended input `{missing.name}`"
                    )
                    yield Finding(origin=one.step.where("with.skill_command"), message=message)


CHECK = Check(
    code="RCP042",
    name="missing-recommended-input",
    severity="warning",
    summary="A step does not pass a recommended input of its skill.",
    why="The skill works without it, but worse: it has to find out by itself what the recipe knows.",
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
          with: {skill_command: /build style=terse, cwd: .}
        """,
        skills={"build": _CONTRACT},
    ),
    run=run,
)
