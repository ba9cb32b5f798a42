"""Commands that look injected but are not run."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import COMMAND, command
from checkrein.passes.checks.parts import invocables
from checkrein.passes.checks.prose import spot

_GLUED = re.compile(r"(?<=[^\s`!>|])!`([^`\n]+)`")


def run(subject: Subject) -> Iterator[Finding]:
    for item in invocables(subject.project):
        if "!`" not in item.body:
            continue
        for hit in subject.body(item).hits(_GLUED, "!`"):
            if hit.line.fenced or not _is_command(hit.line.text, hit.start):
                continue
            message = f"`!` before `{hit.match[1]}` follows other text, so the command is not run"
            yield Finding(origin=spot(item, hit.line.number, hit.start, hit.end), message=message)


def _is_command(text: str, at: int) -> bool:
    """True after `=`, `:` and opening brackets; after a word `!` is punctuation."""
    return text[at - 1] in "=:([{\"'"


CHECK = Check(
    code="CC019",
    name="injection-not-run",
    severity="warning",
    summary="A `!` command is glued to other text.",
    why="Claude Code runs a `!` command in backquotes only at the start of a line or after a blank. "
    "Elsewhere it is plain text.",
    hint="Put a blank before the `!`.",
    bad={COMMAND: command(body="Branch:!`git branch --show-current`\n")},
    good={COMMAND: command(body="Branch: !`git branch --show-current`\n")},
    run=run,
)
