"""Results that the next skill has to find by itself."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example
from checkrein.passes.recipes.dataflow import results_read, writes
from checkrein.passes.recipes.flow_graph import AHEAD


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for one in case.skills:
            step = one.step
            if one.contract is None or not one.contract.outputs or writes(step) or results_read(step):
                continue
            later = one.flow.after(step.name, first=AHEAD) - {step.name}
            following = [
                other.step.name
                for other in case.skills
                if other.flow is one.flow and other.step.name in later
            ]
            if following:
                outputs = ", ".join(f"`{each.name}`" for each in one.contract.outputs)
                message = f"`{step.name}` captures nothing of {outputs}, and `{following[0]}` follows"
                yield Finding(origin=step.origin, message=message)


CHECK = Check(
    code="RCP064",
    name="implicit-handoff",
    severity="error",
    summary="A step runs a skill with outputs and captures none, and another skill follows.",
    why="The next worker starts with nothing in its hands. It searches the files for what this "
    "one reported, and may find something older.",
    hint="Capture the outputs, and pass them on.",
    bad=example(
        """
        design: {tool: run_skill, with: {skill_command: /design, cwd: .}}
        build: {tool: run_skill, with: {skill_command: /build the plan, cwd: .}}
        """,
        skills={"design": "outputs: [{name: plan_path}]\n", "build": ""},
    ),
    good=example(
        """
        design:
          tool: run_skill
          with: {skill_command: /design, cwd: .}
          capture: {plan_path: "${{ result.plan_path }}"}
        build: {tool: run_skill, with: {skill_command: "/build ${{ context.plan_path }}", cwd: .}}
        """,
        skills={"design": "outputs: [{name: plan_path}]\n", "build": ""},
    ),
    run=run,
)
