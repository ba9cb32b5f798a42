"""Values that are read before they exist."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example
from checkrein.passes.recipes.dataflow import early_reads


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for flow in case.flows:
            for step, variable, writer in early_reads(flow):
                message = f"`{step.name}` can run before `{writer.name}`, which captures its `{variable}`"
                yield Finding(origin=step.origin, message=message, related=(writer.origin,))


CHECK = Check(
    code="RCP103",
    name="capture-inversion-detection",
    severity="error",
    summary="A step can run before the step that captures the variable it reads.",
    why="On that path the variable has no value, and the step fails.",
    hint="Route through the step that captures it first, or list the name in `optional_context_refs`.",
    bad=example(
        """
        look:
          action: route
          on_result: [{when: "${{ inputs.fast }} == true", route: use}, {route: make}]
        make:
          tool: run_cmd
          with: {cmd: "echo sha=1", cwd: .}
          capture: {sha: "${{ result.sha }}"}
        use:
          tool: run_cmd
          with: {cmd: "git show ${{ context.sha }}", cwd: .}
          on_failure: make
        """,
        top="ingredients: {fast: {description: Whether to go straight on}}\n",
    ),
    good=example(
        """
        make:
          tool: run_cmd
          with: {cmd: "echo sha=1", cwd: .}
          capture: {sha: "${{ result.sha }}"}
        use:
          tool: run_cmd
          with: {cmd: "git show ${{ context.sha }}", cwd: .}
          on_failure: make
        """,
        top="ingredients: {fast: {description: Whether to go straight on}}\n",
    ),
    run=run,
)
