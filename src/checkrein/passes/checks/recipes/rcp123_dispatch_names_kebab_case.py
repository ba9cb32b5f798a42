"""Names of dispatches in another style."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import campaign
from checkrein.passes.checks.parts import field
from checkrein.passes.checks.recipe_cases import dispatched

_FIRST = "- name: first\n  recipe: repair\n  task: Mend it\n"


_KEBAB = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


def run(subject: Subject) -> Iterator[Finding]:
    for _, dispatch in dispatched(subject):
        if not _KEBAB.fullmatch(dispatch.name):
            message = f"`{dispatch.name}` is not in kebab-case"
            yield Finding(origin=field(dispatch, "name"), message=message)


CHECK = Check(
    code="RCP123",
    name="dispatch-names-kebab-case",
    severity="warning",
    summary="The name of a dispatch is not in kebab-case.",
    why="The name becomes part of branches, queues and files, where blanks and capitals are trouble.",
    hint="Write it with small letters, digits and `-`.",
    bad=campaign(_FIRST.replace("first", "First_Run")),
    good=campaign(_FIRST),
    run=run,
)
