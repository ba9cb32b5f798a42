"""Captures of nothing."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import campaign
from checkrein.passes.checks.recipe_cases import dispatched
from checkrein.passes.recipes.dataflow import result_field

_FIRST = "- name: first\n  recipe: repair\n  task: Mend it\n"


def run(subject: Subject) -> Iterator[Finding]:
    for _, dispatch in dispatched(subject):
        for name, text in dispatch.capture.items():
            if result_field(text) is None:
                message = f"`{dispatch.name}` captures `{name}` from `{text}`, which is no part of the result"
                yield Finding(origin=dispatch.where(f"capture.{name}"), message=message)


CHECK = Check(
    code="RCP135",
    name="dispatch-capture-value-references-result",
    severity="error",
    summary="A capture of a dispatch does not take a part of the result.",
    why="The variable is the same in every run, whatever the recipe found.",
    hint="Write `${{ result.NAME }}` with a variable that the recipe captures.",
    bad=campaign(_FIRST + "  capture: {sha: sha}\n"),
    good=campaign(_FIRST + "  capture: {sha: '${{ result.sha }}'}\n"),
    run=run,
)
