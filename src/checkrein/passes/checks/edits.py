"""Small exact changes to a file, for fixes. Each returns None if the text is not what it expects."""

from __future__ import annotations

import json

from checkrein.base.diagnostic import Edit, Fix
from checkrein.base.origin import Origin, Span
from checkrein.passes.checks.check import Subject


def rename(subject: Subject, origin: Origin, old: str, new: str, *, safe: bool = True) -> Fix | None:
    """Replace the field or key `old` at the start of the origin's span by `new`, quoted or not."""
    if origin.span is None:
        return None
    line, column = origin.span.line, origin.span.column
    written = subject.line(origin.file, line)[column - 1 :]
    for before, after in ((json.dumps(old), json.dumps(new)), (f"'{old}'", f"'{new}'"), (old, new)):
        if written.startswith(before):
            span = Span(line, column, line, column + len(before))
            return Fix(f"Rename `{old}` to `{new}`", (Edit(origin.file, span, after),), safe)
    return None


def swap(
    subject: Subject, origin: Origin, old: str, new: str, title: str, *, safe: bool = True
) -> Fix | None:
    """Replace the only `old` inside the origin's span by `new`."""
    span = origin.span
    if span is None:
        return None
    found = []
    for number in range(span.line, span.last_line + 1):
        text = subject.line(origin.file, number)
        start = span.column - 1 if number == span.line else 0
        end = span.end_column - 1 if number == span.last_line and span.end_column else len(text)
        at = text.find(old, start, end)
        while at >= 0:
            found.append(Span(number, at + 1, number, at + 1 + len(old)))
            at = text.find(old, at + len(old), end)
    if len(found) != 1:
        return None
    return Fix(title, (Edit(origin.file, found[0], new),), safe)


def is_respelling(old: str, new: str) -> bool:
    """Whether two words differ only in case."""
    return old.casefold() == new.casefold()


def respell(subject: Subject, origin: Origin, old: str, new: str, *, approves: bool = False) -> Fix | None:
    """Replace a misspelt word. Only a repair of case is safe: another word could be a tool, a server or a
    power that the author did not mean. Where the word `approves` calls, no repair is safe: today it approves
    nothing."""
    safe = is_respelling(old, new) and not approves
    return swap(subject, origin, old, new, f"Write `{new}`", safe=safe)


def insert_line(subject: Subject, file: str, line: int, text: str, title: str, *, safe: bool = True) -> Fix:
    """Insert a line before line `line`."""
    ending = "\r\n" if "\r\n" in subject.text(file) else "\n"
    return Fix(title, (Edit(file, Span(line, 1, line, 1), text + ending),), safe)


def insert_at(origin: Origin, text: str, title: str, *, safe: bool = True) -> Fix | None:
    """Insert text right before the origin's span."""
    if origin.span is None:
        return None
    line, column = origin.span.line, origin.span.column
    return Fix(title, (Edit(origin.file, Span(line, column, line, column), text),), safe)
