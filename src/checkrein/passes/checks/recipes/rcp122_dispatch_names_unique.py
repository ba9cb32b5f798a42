"""Dispatches of one name."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.model.recipe import Dispatch
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import campaign
from checkrein.passes.checks.parts import field
from checkrein.passes.checks.recipe_cases import campaigns

_FIRST = "- name: first\n  recipe: repair\n  task: Mend it\n"


def run(subject: Subject) -> Iterator[Finding]:
    for case in campaigns(subject):
        first: dict[str, Dispatch] = {}
        for dispatch in case.recipe.dispatches:
            other = first.setdefault(dispatch.name, dispatch)
            if other is not dispatch:
                message = f"Two dispatches are called `{dispatch.name}`"
                yield Finding(origin=field(dispatch, "name"), message=message, related=(other.origin,))


CHECK = Check(
    code="RCP122",
    name="dispatch-names-unique",
    severity="error",
    summary="Two dispatches of a campaign have the same name.",
    why="`depends_on` and the state of a run go by the name, so one of the two is lost.",
    hint="Rename one.",
    bad=campaign(_FIRST + _FIRST),
    good=campaign(_FIRST + _FIRST.replace("first", "second")),
    run=run,
)
