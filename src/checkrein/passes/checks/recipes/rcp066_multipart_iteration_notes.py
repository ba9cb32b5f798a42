"""Plans of several parts that only the first part of is done."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.model.recipe import Step
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example
from checkrein.passes.recipes.case import Case
from checkrein.passes.recipes.dataflow import names_read

_CONTRACT = "outputs: [{name: plan_parts, type: string}]\n"
_DESIGN = """
design:
  tool: run_skill
  with: {skill_command: /design, cwd: .}
  capture_list: {plan_parts: "${{ result.plan_parts }}"}
"""
_ONCE = """build: {tool: run_skill, with: {skill_command: "/build ${{ context.plan_parts[0] }}", cwd: .}}
"""
_EACH = """parts:
  foreach: ${{ context.plan_parts }}
  steps:
    build: {tool: run_skill, with: {skill_command: "/build ${{ context.item }}", cwd: .}}
"""


_PARTS = "plan_parts"
_ALL = re.compile(r"(?i)\*_part_|part[_-]\*|glob|all parts|every part|each part")
_ORDER = re.compile(r"(?i)sequential|one (?:part )?(?:after|at a time)|in order|before (?:starting|the next)")


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        missing = None if any(_walks(step) for _, step in case.steps) else _missing(case)
        for _, step in case.steps if missing is not None else ():
            if _PARTS in step.capture_list:
                message = f"`{step.name}` reports several parts, and {missing}"
                yield Finding(origin=step.where("capture_list"), message=message)


def _walks(step: Step) -> bool:
    return step.kind == "foreach" and _PARTS in names_read(step, deep=False)


def _missing(case: Case) -> str | None:
    """What a recipe lacks that walks over parts by notes, as those of the source do."""
    notes = "\n".join(filter(None, (step.note for _, step in case.steps)))
    if not _ALL.search(notes):
        return "no step walks over them (multipart-glob-note)"
    if not _ORDER.search("\n".join((*(case.recipe.kitchen_rules or ()), notes))):
        return "no rule says that they come one after the other (multipart-sequential-kitchen-rule)"
    return None if case.flows[0].cycles else "no route leads back to the next part (multipart-route-back)"


CHECK = Check(
    code="RCP066",
    name="multipart-iteration-notes",
    severity="error",
    summary="A recipe gets a plan of several parts and does not walk over them.",
    why="Only one part is built; the others are forgotten without a word.",
    hint="Walk over the parts: `foreach: ${{ context.plan_parts }}` with the steps of one part.",
    bad=example(_DESIGN + _ONCE, skills={"design": _CONTRACT, "build": ""}),
    good=example(_DESIGN + _EACH, skills={"design": _CONTRACT, "build": ""}),
    run=run,
)
