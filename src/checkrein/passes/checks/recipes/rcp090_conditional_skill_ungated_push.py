"""Pushes that may have nothing to push."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example
from checkrein.passes.recipes.flow_graph import AHEAD

_CONTRACT = "write_behavior: conditional\nwrite_expected_when: [verdict = changed]\n"
_STEPS = """
mend:
  tool: run_skill
  with: {skill_command: /mend, cwd: .}
  on_failure: failed
  ROUTE
audit: {tool: run_skill, with: {skill_command: /review-changes, cwd: .}}
publish: {tool: push_to_remote, with: {clone_path: ., branch: work, remote_url: "https://example.com/r.git"}}
"""
_ROUTE = """on_result:
    - {when: "${{ result.verdict }} == changed", route: audit}
    - {route: done}"""


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for flow in case.flows:
            pushes = case.named(flow, tools=["push_to_remote"])
            gates = {step.name for step in flow.steps.values() if any(arm.when for arm in step.on_result)}
            gates |= {step.name for step in flow.steps.values() if step.kind == "confirm"}
            for one in case.skills if pushes else ():
                if (
                    one.flow is not flow
                    or one.contract is None
                    or one.contract.write_behavior != "conditional"
                ):
                    continue
                if one.step.name in gates:
                    continue
                for name in sorted(pushes & flow.after(one.step.name, first=AHEAD, stop=gates)):
                    message = f"`{name}` pushes after `{one.step.name}`, which may have changed nothing"
                    yield Finding(
                        origin=flow.steps[name].where("tool"), message=message, related=(one.step.origin,)
                    )


CHECK = Check(
    code="RCP090",
    name="conditional-skill-ungated-push",
    severity="error",
    summary="A skill that may change nothing leads to a push without a look at its verdict.",
    why="The push and all that follows run as if there were a change.",
    hint="Route by the skill's result between it and the push: `on_result` with a condition.",
    bad=example(_STEPS.replace("ROUTE", "on_success: audit"), skills={"mend": _CONTRACT}),
    good=example(_STEPS.replace("ROUTE", _ROUTE), skills={"mend": _CONTRACT}),
    run=run,
)
