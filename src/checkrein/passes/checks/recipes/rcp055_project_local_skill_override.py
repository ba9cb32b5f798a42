"""Names of bundled skills that the project replaces."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example
from checkrein.passes.recipes.skill_call import OWN_NAMESPACES

_STEPS = "look: {{tool: run_skill, with: {{skill_command: /{prefix}review-changes, cwd: .}}}}"


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for one in case.skills:
            own = case.shelf.own.get(one.name)
            if own is not None and one.call.namespace in OWN_NAMESPACES:
                message = f"`{one.step.name}` says `/{one.call.written}`, and the project replaces it"
                origin = one.step.where("with.skill_command")
                yield Finding(origin=origin, message=message, related=(own.origin,))


CHECK = Check(
    code="RCP055",
    name="project-local-skill-override",
    severity="warning",
    summary="A step names a bundled skill by its namespace, and the project has its own of that name.",
    why="The name says that the bundled skill runs. A worker gets the project's.",
    hint="Write `/NAME` without the namespace.",
    bad=example(_STEPS.format(prefix="checkrein:"), skills={"review-changes": ""}),
    good=example(_STEPS.format(prefix=""), skills={"review-changes": ""}),
    run=run,
)
