"""`$1` where the first argument is meant."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import COMMAND, command
from checkrein.passes.checks.parts import invocables, takes_arguments
from checkrein.passes.checks.prose import code_spans, spot, teaches

_POSITION = re.compile(r"(?<![\\$\w])\$(?:ARGUMENTS\[)?(\d)(?:\])?(?!\w|[.,]\d)")

_ELSE = re.compile(
    r"(?i:\bnot\b)[^.]{0,8}\$1"
    r"|\$\d+(?:[.,]\d+)?\s?(?:[-–—~/+%kKMB]|to \$|per\b|a (?:month|year|day)|each\b|million|billion|USD)"
    r"|\$\d{2,}|(?i:\b(?:costs?|pric|budget|fee|pay|dollar|cheap|revenue|USD|charge|spend|sav)\w*)"
    r"|\bSQL\b|(?i:\b(?:parameteri[sz]ed|prepared) (?:quer|statement))"
)
# What a line of a skill must say about `$1` when nothing else says that the skill takes arguments.
_ARGUMENT = re.compile(r"(?i)\b(?:argument|parameter|arg|param|user (?:input|gave|gives|passed|typed))s?\b")


def run(subject: Subject) -> Iterator[Finding]:
    for item in invocables(subject.project):
        if "$1" not in item.body or item.arguments or teaches(item):
            continue
        argued = takes_arguments(item)
        places = [
            (int(match[1]), spot(item, line.number, match.start(), match.end()))
            for line in subject.body(item).lines()
            if not line.fenced and "$" in line.text and not _ELSE.search(line.text)
            if argued or _ARGUMENT.search(line.text)
            for match in _POSITION.finditer(_without_shell(line.text))
        ]
        numbers = {number for number, _ in places}
        if 1 in numbers and 0 not in numbers:
            origin = next(origin for number, origin in places if number == 1)
            message = f"`{item.name}` uses `$1` but not `$0`; `$0` is the first argument and `$1` the second"
            yield Finding(origin=origin, message=message)


def _without_shell(text: str) -> str:
    """A line without its code spans that are commands: there `$1` belongs to the shell or awk."""
    for span, at in code_spans(text):
        if " " in span:
            text = text[:at] + " " * len(span) + text[at + len(span) :]
    return text


CHECK = Check(
    code="CC013",
    name="first-argument-skipped",
    severity="warning",
    summary="A skill or command counts its arguments from `$1`.",
    why="In Claude Code `$0` is the first argument. `$1` is the second, and empty when only one is given.",
    hint="Count from `$0`, or name the arguments: `arguments: [issue]` and `$issue`.",
    bad={COMMAND: command(body="Fix issue $1 on branch $2.\n")},
    good={COMMAND: command(body="Fix issue $0 on branch $1.\n")},
    run=run,
)
