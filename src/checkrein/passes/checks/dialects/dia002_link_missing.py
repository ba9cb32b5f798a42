"""Links in instruction files that lead nowhere."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from checkrein.base.origin import Span
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.prose import read_lines, without_spans

_LINK = re.compile(r"\]\(<?((?:\.{0,2}/)*[\w][\w./-]*\.\w{1,5})(?:#[^)\s]{0,200})?>?\)")


def run(subject: Subject) -> Iterator[Finding]:
    root = subject.project.place.root
    for item in subject.project.sources.instructions:
        if "](" not in item.text:
            continue
        file = item.origin.file
        for line in read_lines(subject.text(file)):
            if line.fenced or "](" not in line.text:
                continue
            for match in _LINK.finditer(without_spans(line.text)):
                places = (os.path.dirname(file), root)
                if not any(os.path.exists(os.path.join(at, match[1].lstrip("/"))) for at in places):
                    span = Span(line.number, match.start(1) + 1, line.number, match.end(1) + 1)
                    yield Finding(
                        origin=item.origin.at(span), message=f"The link to `{match[1]}` leads nowhere"
                    )


CHECK = Check(
    code="DIA002",
    name="link-missing",
    severity="warning",
    summary="An instruction file of another agent links to a file that does not exist.",
    why="The model tries to read it and fails in the middle of the task.",
    hint="Add the file, correct the path (from the file's folder or the project's), or remove the link.",
    bad={"GEMINI.md": "Follow [the style](docs/style.md).\n"},
    good={"GEMINI.md": "Follow [the style](docs/style.md).\n", "docs/style.md": "Short names.\n"},
    run=run,
    dialects="others",
)
