"""Claims that a timeout leaves behind."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example
from checkrein.passes.recipes.flow_graph import AHEAD, Edge

_STEPS = """
claim: {tool: claim_issue, with: {issue_url: "1"}}
queue:
  tool: wait_for_merge_queue
  with: {pr_number: 1, target_branch: main}
  on_failure: FAILURE
release: {tool: release_issue, with: {issue_url: "1"}}
"""


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for flow, step in case.calls("wait_for_merge_queue"):
            claims, releases = (case.named(flow, tools=[tool]) for tool in ("claim_issue", "release_issue"))
            if not claims & flow.before(step.name):
                continue
            ends = [arm.route for arm in step.on_result if arm.when is None]
            ends += [edge.target for edge in flow.out[step.name] if edge.kind == "failure"]
            for target in dict.fromkeys(ends):
                if any(
                    name not in flow.steps or flow.steps[name].kind == "stop"
                    for name in flow.reach([target], stop=releases, follow=_is_ahead)
                ):
                    message = f"`{step.name}` can lead to `{target}` and to the end without `release_issue`"
                    yield Finding(origin=step.origin, message=message)
                    break


def _is_ahead(edge: Edge) -> bool:
    return edge.kind in AHEAD


CHECK = Check(
    code="RCP105",
    name="wait-for-merge-queue-routing-conforms-to-expected-targets",
    severity="error",
    summary="When the wait for the merge queue fails, the claimed issue is not released.",
    why="The issue stays claimed by a run that is over, and no other run takes it.",
    hint="Route the arm without `when` and `on_failure` to a step that calls `release_issue`.",
    bad=example(_STEPS.replace("FAILURE", "failed")),
    good=example(_STEPS.replace("FAILURE", "release")),
    run=run,
)
