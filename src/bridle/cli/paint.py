"""How things look in a terminal: paths, source excerpts, columns."""

from __future__ import annotations

import os
import shutil

import click

from bridle.base.diagnostic import Diagnostic
from bridle.base.files import read_text
from bridle.base.origin import Origin

SEVERITY_COLOR = {"error": "red", "warning": "yellow", "info": "blue"}
SCOPE_COLOR = {"managed": "magenta", "user": "cyan", "plugin": "blue", "cli": "magenta"}


def path(file: str) -> str:
    """The shortest honest spelling of a path: below the working directory, below the home, or whole."""
    if not os.path.isabs(file):
        return file
    relative = os.path.relpath(file)
    if not relative.startswith(".."):
        return relative
    home = os.path.expanduser("~")
    if home != "/" and file.startswith(home + os.sep):
        return "~" + file[len(home) :]
    return file


def place(origin: Origin) -> str:
    """`file:line` or `file`."""
    return f"{path(origin.file)}:{origin.span.line}" if origin.span else path(origin.file)


def place_column(origin: Origin) -> str:
    if origin.span is None:
        return f"{path(origin.file)}:1:1"
    return f"{path(origin.file)}:{origin.span.line}:{origin.span.column}"


def dim(text: str) -> str:
    return click.style(text, dim=True)


def bold(text: str) -> str:
    return click.style(text, bold=True)


def width() -> int:
    return max(60, min(shutil.get_terminal_size((100, 24)).columns, 160))


def fit(text: str, room: int) -> str:
    return text if len(text) <= room else text[: max(1, room - 1)].rstrip() + "…"


def diagnostic(found: Diagnostic) -> str:
    """A finding with its place, its source line with a caret, the reason and the way out."""
    head = click.style(f"{found.severity}[{found.code}]", fg=SEVERITY_COLOR[found.severity], bold=True)
    lines = [f"{head} {bold(found.message)}", f"  {dim('-->')} {place_column(found.origin)}"]
    lines += excerpt(found.origin)
    if found.reason:
        lines.append(f"  {dim('=')} why: {found.reason}")
    if found.hint:
        lines.append(f"  {dim('=')} fix: {found.hint}")
    lines += [f"  {dim('=')} see: {place(origin)}" for origin in found.related]
    return "\n".join(lines)


def excerpt(origin: Origin) -> list[str]:
    if origin.span is None:
        return []
    text = read_text(origin.file).text.splitlines()
    if not 0 < origin.span.line <= len(text):
        return []
    from bridle.base.secrets import redact_source

    line = text[origin.span.line - 1].expandtabs(1)
    one_line = origin.span.last_line == origin.span.line and origin.span.end_column
    begin = origin.span.column - 1
    end = origin.span.end_column - 1 if one_line else len(line)
    room = width() - 10
    shown = redact_source(line)
    if shown != line:
        begin, end = 0, len(shown)
    if begin > room // 2 and len(shown) > room:
        cut = begin - room // 4
        shown, begin, end = "…" + shown[cut:], begin - cut + 1, end - cut + 1
    shown = fit(shown, room)
    caret = " " * begin + "^" * max(1, min(end, len(shown)) - begin)
    number = str(origin.span.line)
    margin = " " * len(number)
    bar = dim("|")
    return [
        f"  {margin} {bar}",
        f"  {dim(number)} {bar} {shown}",
        f"  {margin} {bar} {click.style(caret, fg='red')}",
    ]
