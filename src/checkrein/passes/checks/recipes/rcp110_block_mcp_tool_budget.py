"""Blocks with too many calls."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts.recipe_rules import rule_facts
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example
from checkrein.passes.recipes.blocks import blocks

_STEPS = """
one: {tool: get_issue_title, with: {issue_url: "1"}, block: pre_queue_gate}
two: {tool: get_issue_title, with: {issue_url: "2"}, block: OTHER}
"""


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for flow in case.flows:
            for block in blocks(flow):
                most = rule_facts().budget(block.name).other_tools
                found = [step for step in block.steps if step.tool not in (None, "run_cmd")]
                if most is not None and len(found) > most:
                    message = f"The block `{block.name}` calls {len(found)} tools, and may call {most}"
                    yield Finding(origin=found[most].where("tool"), message=message)


CHECK = Check(
    code="RCP110",
    name="block-mcp-tool-budget",
    severity="error",
    summary="A block calls more tools than it may.",
    why="A block with a budget is meant to ask once. Each further call costs time and may see another state.",
    hint="Use one tool that answers all, or split the block.",
    bad=example(_STEPS.replace("OTHER", "pre_queue_gate")),
    good=example(_STEPS.replace("OTHER", "queue")),
    run=run,
)
