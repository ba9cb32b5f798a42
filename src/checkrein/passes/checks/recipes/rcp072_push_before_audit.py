"""Pushes that nobody looked at."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts.recipe_rules import rule_facts
from checkrein.model.recipe import Step
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example
from checkrein.passes.recipes.flow_graph import AHEAD, Flow, not_around

_STEPS = """
build: {tool: run_skill, with: {skill_command: /build, cwd: .}, on_context_limit: failed}
AUDIT
publish: {tool: push_to_remote, with: {clone_path: ., branch: work, remote_url: "https://example.com/r.git"}}
"""
_AUDIT = "audit: {tool: run_skill, with: {skill_command: /review-changes, cwd: .}}"


def run(subject: Subject) -> Iterator[Finding]:
    audits = rule_facts().skills.audits
    for case in subject.cases:
        for flow in case.flows:
            pushes = case.named(flow, tools=["push_to_remote"])
            judged = case.named(flow, skills=audits)
            judged |= {step.name for step in flow.steps.values() if step.kind == "confirm"}
            changing = [
                one.step
                for one in case.skills
                if one.flow is flow and one.changes_files and one.step.name not in judged
            ]
            for name in sorted(pushes):
                before = next((step for step in changing if name in _unjudged(flow, step, judged)), None)
                if before is not None:
                    message = f"`{name}` pushes what `{before.name}` changed, without an audit in between"
                    yield Finding(
                        origin=flow.steps[name].where("tool"), message=message, related=(before.origin,)
                    )


def _unjudged(flow: Flow, step: Step, judged: frozenset[str]) -> frozenset[str]:
    """What a change reaches. Who skips an audit by an input has decided to."""
    return flow.after(step.name, first=AHEAD, stop=judged, follow=not_around(judged))


CHECK = Check(
    code="RCP072",
    name="push-before-audit",
    severity="warning",
    summary="What a model changed is pushed without an audit before.",
    why="The change leaves the machine before anything judged it.",
    hint="Run an audit such as `/review-changes`, or ask a person with a `confirm` step, before the push.",
    bad=example(_STEPS.replace("AUDIT", ""), skills={"build": "write_behavior: always\n"}),
    good=example(_STEPS.replace("AUDIT", _AUDIT), skills={"build": "write_behavior: always\n"}),
    run=run,
)
