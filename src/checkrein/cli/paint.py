"""How things look in a terminal: paths, source excerpts, columns."""

from __future__ import annotations

import os
import re

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.files import read_text
from checkrein.base.harmless import indented, one_line
from checkrein.base.origin import BOUND_SCOPES, Origin
from checkrein.cli.out import style

_ENVIRONMENT = r"\$(?:\..*)?\.env\b"
"""Places in JSON files whose values Checkrein never prints."""

_SEVERITY_COLOR = {"error": "red", "warning": "yellow", "info": "blue"}
SCOPE_COLOR = {"managed": "magenta", "user": "cyan", "plugin": "blue", "cli": "magenta"}


def path(file: str) -> str:
    """The shortest spelling of a path: from the working directory, from the home, or whole."""
    if not os.path.isabs(file):
        return one_line(file)
    relative, whole = one_line(os.path.relpath(file)), whole_path(file)
    if relative == whole[1:]:
        return whole
    return relative if not relative.startswith("..") or len(relative) < len(whole) else whole


def whole_path(file: str) -> str:
    """A path that does not depend on the working directory: `~` for the home, or absolute."""
    home = os.path.expanduser("~")
    return one_line("~" + file[len(home) :] if home != "/" and file.startswith(home + os.sep) else file)


def place(origin: Origin) -> str:
    """`file:line` or `file`."""
    return f"{path(origin.file)}:{origin.span.line}" if origin.span else path(origin.file)


def place_column(origin: Origin) -> str:
    if origin.span is None:
        return f"{path(origin.file)}:1:1"
    return f"{path(origin.file)}:{origin.span.line}:{origin.span.column}"


def dim(text: str) -> str:
    return style(text, dim=True)


def bold(text: str) -> str:
    return style(text, bold=True)


def width() -> int:
    """`$COLUMNS` when it is set, else the columns of the terminal, else 100; between 60 and 160."""
    given = os.environ.get("COLUMNS", "")
    try:
        columns = int(given) if given.isdigit() else os.get_terminal_size(1).columns
    except OSError:
        columns = 0
    return max(60, min(columns or 100, 160))


def cells(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(char) else 1 + (east_asian_width(char) in "WF") for char in text)


def pad(text: str, columns: int) -> str:
    return text + " " * (columns - cells(text))


def fit(text: str, room: int) -> str:
    if cells(text) <= room:
        return text
    end = max(1, room - 1)
    while end > 1 and cells(text[:end]) > room - 1:
        end -= 1
    return text[:end].rstrip() + "…"


def diagnostic(found: Diagnostic) -> str:
    """A finding with its place, its source line with a caret, the reason and the fix."""
    head = style(f"{found.severity}[{found.code}]", fg=_SEVERITY_COLOR[found.severity], bold=True)
    lines = [f"{head} {bold(indented(found.message))}", f"  {dim('-->')} {place_column(found.origin)}"]
    lines += excerpt(found.origin)
    if found.reason:
        lines.append(f"  {dim('=')} why: {found.reason}")
    if found.hint:
        lines.append(f"  {dim('=')} fix: {found.hint}")
    lines += [f"  {dim('=')} see: {place(origin)}" for origin in found.related]
    return "\n".join(lines)


def excerpt(origin: Origin) -> list[str]:
    """The first line of a place with a caret below it, secrets hidden and long lines cut around the caret."""
    if origin.span is None:
        return []
    read = read_text(origin.file, within=(os.getcwd(),) if origin.scope in BOUND_SCOPES else None)
    text = read.text.split("\n")
    if not read.readable or not 0 < origin.span.line <= len(text):
        return []
    line = _printable(text[origin.span.line - 1].removesuffix("\r"))
    one_line = origin.span.last_line == origin.span.line and origin.span.end_column
    begin = min(origin.span.column - 1, len(line))
    end = origin.span.end_column - 1 if one_line else len(line)
    hidden = re.match(_ENVIRONMENT, origin.field or "") is not None
    shown, begin, end = _redacted(line, begin, end, whole=hidden)
    room = width() - 10
    if begin > room // 2 and cells(shown) > room:
        cut = begin - room // 4
        shown, begin, end = "…" + shown[cut:], begin - cut + 1, end - cut + 1
    shown = fit(shown, room)
    caret = " " * cells(shown[:begin]) + "^" * max(1, cells(shown[begin:end]))
    number = str(origin.span.line)
    margin = " " * len(number)
    bar = dim("|")
    return [
        f"  {margin} {bar}",
        f"  {dim(number)} {bar} {shown}",
        f"  {margin} {bar} {style(caret, fg='red')}",
    ]


def _printable(line: str) -> str:
    """One visible character for each of the line's: a tab is a blank, a control character a dot."""
    return "".join(char if char.isprintable() else " " if char == "\t" else "·" for char in line)


def _redacted(line: str, begin: int, end: int, whole: bool) -> tuple[str, int, int]:
    """The line with secrets hidden, and where the two places are in the result. `whole` hides all values."""
    from checkrein.base.secrets import REDACTED, redact_source, redact_values

    shown = redact_source(redact_values(line) if whole and '"env"' not in line else line)
    if shown == line:
        return shown, begin, end
    before = after = 0
    places = {begin: len(shown), end: len(shown)}
    parts = shown.split(REDACTED)
    for index, part in enumerate(parts):
        at = line.rfind(part) if index == len(parts) - 1 else line.find(part, before + (index > 0))
        for place in (begin, end):
            if before <= place < at:
                places[place] = after - len(REDACTED)
            elif at <= place <= at + len(part):
                places[place] = after + place - at
        before, after = at + len(part), after + len(part) + len(REDACTED)
    return shown, places[begin], max(places[end], places[begin])
