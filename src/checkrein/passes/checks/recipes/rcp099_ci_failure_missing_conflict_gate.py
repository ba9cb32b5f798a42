"""Repairs of what only an old base broke."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.facts.recipe_rules import rule_facts
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example

_TOP = "ingredients: {event: {description: The event of CI}, pr: {description: The pull request}}\n"
_STEPS = """
watch:
  tool: wait_for_ci
  with: {branch: work, event: "${{ inputs.event }}"}
  on_success: done
  on_failure: NEXT
mend:
  tool: run_skill
  with: {skill_command: "/resolve-failures ${{ inputs.pr }}", cwd: .}
  retries: 0
  on_context_limit: failed
  on_success: done
"""
_GATE = """mergeable:
  tool: check_pr_mergeable
  with: {pr_number: "${{ inputs.pr }}", cwd: .}
  on_success: mend
"""


_BASE = re.compile(r"\bgit\b[^;&|\n]{0,200}\b(?:merge-base|merge-tree|rebase|fetch)\b|\bgh\s+pr\s+view\b")


def run(subject: Subject) -> Iterator[Finding]:
    facts = rule_facts()
    for case in subject.cases:
        for flow, step in case.calls("wait_for_ci"):
            gates = case.named(flow, tools=facts.tools.stale_base, skills=facts.skills.rebases)
            gates |= {one.name for held, one, text in case.commands() if held is flow and _BASE.search(text)}
            repairs = case.named(flow, skills=facts.skills.repairs)
            reached = flow.after(step.name, first=("failure", "result"), stop=gates | repairs)
            for name in sorted(reached & repairs):
                message = f"`{name}` repairs what `{step.name}` found red, without a look at the base"
                yield Finding(
                    origin=flow.steps[name].where("with.skill_command"),
                    message=message,
                    related=(step.origin,),
                )


CHECK = Check(
    code="RCP099",
    name="ci-failure-missing-conflict-gate",
    severity="error",
    summary="A red CI leads to a repair without a look at the base.",
    why="A branch that is behind its base is often red for that reason alone. The repair then "
    "changes code that was right.",
    hint="Before the repair, check whether the branch still merges: `check_pr_mergeable`, or `git "
    "merge-base` in a command.",
    bad=example(_STEPS.replace("NEXT", "mend"), top=_TOP, skills={"resolve-failures": ""}),
    good=example(_STEPS.replace("NEXT", "mergeable") + _GATE, top=_TOP, skills={"resolve-failures": ""}),
    run=run,
)
