"""Imports that have no effect because they are in code."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from checkrein.base.origin import Span
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.prose import code_spans

_IMPORT = re.compile(r"@((?:\./|\.\./|~/)?[\w][\w./-]*\.md)\b")


def run(subject: Subject) -> Iterator[Finding]:
    loaded = {os.path.realpath(item.name) for item in subject.project.instructions}
    for item in subject.project.instructions:
        if "@" not in item.text or "`" not in item.text:
            continue
        imported = {entry.target for entry in item.imports}
        for number, text in enumerate(subject.lines(item.name), 1):
            for span, at in code_spans(text):
                match = _IMPORT.fullmatch(span)
                if match is None:
                    continue
                target = os.path.realpath(os.path.join(os.path.dirname(item.name), match[1]))
                if not os.path.isfile(target) or target in loaded or target in imported:
                    continue
                origin = item.origin.at(Span(number, at + 1, number, at + 1 + len(span)))
                message = f"`{span}` is in code, so Claude Code does not import the file"
                yield Finding(origin=origin, message=message)


CHECK = Check(
    code="MEM008",
    name="import-in-code",
    severity="info",
    summary="An `@path` in backquotes is not an import.",
    why="Claude Code ignores imports inside code, so that a text can show them as examples. It does not load "
    "the file.",
    hint="Remove the backquotes to load the file.",
    bad={"CLAUDE.md": "Follow `@docs/style.md`.\n", "docs/style.md": "Short names.\n"},
    good={"CLAUDE.md": "Follow @docs/style.md\n", "docs/style.md": "Short names.\n"},
    run=run,
)
