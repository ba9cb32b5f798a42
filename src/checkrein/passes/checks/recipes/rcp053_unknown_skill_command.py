"""Steps that run a skill that does not exist."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example
from checkrein.passes.checks.recipe_cases import meant


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for one in case.skills:
            if one.item is None:
                yield Finding(
                    origin=one.step.where("with.skill_command"),
                    message=f"`{one.step.name}` runs `/{one.call.written}`, which is no skill here",
                    hint=meant(one.name, case.shelf.items),
                )


CHECK = Check(
    code="RCP053",
    name="unknown-skill-command",
    severity="error",
    summary="A step names a skill that neither the project nor Checkrein has.",
    why="No worker can run it; the recipe is refused before it starts.",
    hint="Name a skill of the project or a bundled one.",
    bad=example("look: {tool: run_skill, with: {skill_command: /reveiw-changes, cwd: .}}"),
    good=example("look: {tool: run_skill, with: {skill_command: /review-changes, cwd: .}}"),
    run=run,
)
