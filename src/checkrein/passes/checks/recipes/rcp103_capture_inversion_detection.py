"""Values that are read before they exist."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.model.recipe import Step
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example
from checkrein.passes.recipes.dataflow import needed, producers
from checkrein.passes.recipes.flow_graph import Flow, not_around


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for flow in case.flows:
            readers: dict[str, list[Step]] = {}
            for step in flow.steps.values():
                for name in needed(step):
                    readers.setdefault(name, []).append(step)
            for name, steps in readers.items():
                yield from _inverted(flow, name, steps)


def _inverted(flow: Flow, name: str, readers: list[Step]) -> Iterator[Finding]:
    """The readers that a path leads to past all makers, and on to one. Skipping one is no such path."""
    makers = producers(flow, name)
    early = flow.reach(flow.starts, stop=makers, follow=not_around(makers)) if makers else frozenset()
    for step in readers:
        if step.name not in early & flow.before(*makers):
            continue
        later = next(one for one in flow.steps if one in makers)
        message = f"`{step.name}` can run before `{later}`, which captures its `{name}`"
        yield Finding(origin=step.origin, message=message, related=(flow.steps[later].origin,))


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
