"""Marks of an unfinished merge."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.base.origin import Span
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.parts import bodies, noun

_MARK = re.compile(r"<{7} \S|>{7} \S")


def run(subject: Subject) -> Iterator[Finding]:
    for item in subject.project.sources.instructions:
        if "<<<<<<< " in item.text:
            for number, text in enumerate(subject.lines(item.name), 1):
                if _MARK.match(text):
                    message = "This merge is not finished"
                    yield Finding(origin=item.origin.at(Span(number)), message=message)
    for owner in bodies(subject.project):
        if "<<<<<<< " in owner.body:
            for line in subject.body(owner).lines():
                if _MARK.match(line.text) and not line.fenced:
                    message = f"A merge is not finished in the {noun(owner)} `{owner.name}`"
                    yield Finding(origin=owner.origin.at(Span(line.number), "body"), message=message)


CHECK = Check(
    code="MEM012",
    name="merge-marks",
    severity="warning",
    summary="A text that the model reads holds marks of a merge conflict.",
    why="The model reads both sides and the marks.",
    hint="Finish the merge.",
    bad={"CLAUDE.md": "<<<<<<< ours\nUse tabs.\n=======\nUse blanks.\n>>>>>>> theirs\n"},
    good={"CLAUDE.md": "Use blanks.\n"},
    run=run,
    dialects="all",
)
