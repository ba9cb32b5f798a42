"""Verdicts without a route."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example
from checkrein.passes.recipes.path_facts import routed

_CONTRACT = "outputs: [{name: verdict, allowed_values: [go, stop, unclear]}]\n"
_STEPS = """
judge:
  tool: run_skill
  with: {skill_command: /judge, cwd: .}
  on_failure: failed
  on_result:
    - {when: "${{ result.verdict }} == go", route: done}
    - {when: "${{ result.verdict }} == stop", route: failed}MORE
    - {route: done}
"""
_MORE = """
    - {when: "${{ result.verdict }} == unclear", route: judge}"""


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for one in case.skills:
            for output in one.contract.outputs if one.contract is not None else ():
                handled = {value.lower() for value in routed(one.step, f"result.{output.name}")}
                missing = [value for value in output.allowed_values if value.lower() not in handled]
                if handled and missing:
                    message = f"`{one.step.name}` has no route for `{output.name}` = {', '.join(missing)}"
                    yield Finding(origin=one.step.where("on_result"), message=message)


CHECK = Check(
    code="RCP091",
    name="unrouted-verdict-value",
    severity="error",
    summary="A step routes by an output and leaves out one of its values.",
    why="The value falls to whatever comes last, which was written for another case.",
    hint="Add an arm for each value that the contract allows.",
    bad=example(_STEPS.replace("MORE", ""), skills={"judge": _CONTRACT}),
    good=example(_STEPS.replace("MORE", _MORE), skills={"judge": _CONTRACT}),
    run=run,
)
