"""CI of any event."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts.recipe_rules import rule_facts
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example

_STEPS = """
state:
  tool: check_repo_merge_state
  with: {branch: work}
  capture: {ci_event: "${{ result.ci_event }}"}
watch: {tool: wait_for_ci, with: {branch: workEVENT}}
end: {action: stop, message: "Red or green by ${{ context.ci_event }}"}
"""


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for _, step in case.calls(*rule_facts().tools.ci):
            if not step.with_args.get("event") and not step.with_args.get("run_id"):
                yield Finding(
                    origin=step.where("tool"), message=f"`{step.name}` asks about runs of any event"
                )


CHECK = Check(
    code="RCP100",
    name="ci-missing-event-scope",
    severity="warning",
    summary="A step asks about CI and does not say for which event.",
    why="One commit has runs of several events. Without `event` the answer may be that of another one.",
    hint="Capture `ci_event` of `check_repo_merge_state`, and pass it as `event`.",
    bad=example(_STEPS.replace("EVENT", "")),
    good=example(_STEPS.replace("EVENT", ", event: '${{ context.ci_event }}'")),
    run=run,
)
