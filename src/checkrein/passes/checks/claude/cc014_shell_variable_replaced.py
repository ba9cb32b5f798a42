"""Shell and awk variables that Claude Code reads as arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.passes.checks import edits
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import COMMAND, command
from checkrein.passes.checks.parts import invocables, takes_arguments
from checkrein.passes.checks.prose import spot

_POSITION = re.compile(r"(?<![\\$\w])\$(\d)(?![\w]|[.,]\d)")


def run(subject: Subject) -> Iterator[Finding]:
    for item in invocables(subject.project):
        if "$" not in item.body or not takes_arguments(item):
            continue
        for line in subject.body(item).lines():
            for match in _positions(line.text, line.fenced) if "$" in line.text else ():
                message = f"`{match[0]}` in this command is replaced by an argument of `{item.name}`"
                origin = spot(item, line.number, match.start(), match.end())
                fix = edits.swap(
                    subject, origin, match[0], "\\" + match[0], f"Write `\\{match[0]}`", safe=False
                )
                yield Finding(origin=origin, message=message, fix=fix)
                break


def _positions(text: str, fenced: bool) -> Iterator[re.Match[str]]:
    """`$1` that belongs to the language: in an awk program, or in a function or script in a fence."""
    awk = re.search(r"\bawk\b[^'|]*'([^']*)'", text)
    if awk:
        yield from (match for match in _POSITION.finditer(text) if awk.start(1) <= match.start() < awk.end(1))
    elif fenced and re.match(r"\s*(?:local |readonly |export )?\w+=[\"']?\$\{?\d\b", text):
        yield from _POSITION.finditer(text)


CHECK = Check(
    code="CC014",
    name="shell-variable-replaced",
    severity="warning",
    summary="Claude Code reads a shell or awk `$1` in a skill or command as an argument.",
    why="Claude Code replaces every `$N` in the body before the model reads it, even in code: `awk '{print "
    "$1}'` "
    "loses its `$1`.",
    hint="Write `\\$1` to keep it, or move the script into a file beside the skill.",
    bad={COMMAND: command(body="Ship $ARGUMENTS.\n\n```bash\ngit branch | awk '{print $1}'\n```\n")},
    good={COMMAND: command(body="Ship $ARGUMENTS.\n\n```bash\ngit branch | awk '{print \\$1}'\n```\n")},
    run=run,
    fixable=True,
)
