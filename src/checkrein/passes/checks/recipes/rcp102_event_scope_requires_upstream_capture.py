"""Events that the repository may not have."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example
from checkrein.passes.checks.recipe_cases import literal
from checkrein.passes.recipes.dataflow import result_field, writes


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for flow, step in case.calls("wait_for_ci"):
            if not literal(step.with_args.get("event")):
                continue
            before = (flow.steps[name] for name in flow.before(step.name))
            if not any(result_field(text) == "ci_event" for one in before for text in writes(one).values()):
                message = f"`{step.name}` waits for the event `{step.with_args['event']}`, unasked"
                yield Finding(origin=step.where("with.event"), message=message)


CHECK = Check(
    code="RCP102",
    name="event-scope-requires-upstream-capture",
    severity="error",
    summary="A step waits for CI of an event that the recipe names itself.",
    why="Which event starts CI is a matter of the repository: `push`, `pull_request` or "
    "`merge_group`. With the wrong one the step waits until its time is over.",
    hint="Capture `ci_event` of `check_repo_merge_state` before, and pass it.",
    bad=example("watch: {tool: wait_for_ci, with: {branch: work, event: push}}"),
    good=example(
        """
        state:
          tool: check_repo_merge_state
          with: {branch: work}
          capture: {ci_event: "${{ result.ci_event }}"}
        watch: {tool: wait_for_ci, with: {branch: work, event: "${{ context.ci_event }}"}}
        """
    ),
    run=run,
)
