"""Which files a shell command showed to the model: `cat a`, `head -20 a`, `sed -n 1,9p a`, `grep x a`."""

from __future__ import annotations

import re
import shlex

from checkrein.runtime.tools import files
from checkrein.runtime.tools.desk import View
from checkrein.runtime.tools.port import ToolContext, ToolFailure

_SIMPLE = re.compile(r"[^|&;<>()`$\n\\{}*?\[\]~#!]+")
_WHOLE = frozenset(("cat", "nl", "bat", "batcat"))
_PART = frozenset(("head", "tail"))
_SEARCH = frozenset(("grep", "egrep", "fgrep", "rg"))
_RANGE = re.compile(r"\d+(?:,\d+)?p")
_LARGEST = 10 << 20


def note(command: str, context: ToolContext) -> None:
    """Remember the file that this command showed, if it is one of these forms and names one file."""
    found = viewed(command)
    if found is None:
        return
    path, view = found
    try:
        real = files.canonical(path, context)
        context.state.note_seen(real, files.read(real, _LARGEST), view)
    except ToolFailure:
        return


def viewed_path(command: str, text: str, context: ToolContext) -> str | None:
    """The file that the command shows, if it is one. Learns its secrets, of which `text` may be a part."""
    found = viewed(command)
    if found is None:
        return None
    real = files.canonical(found[0], context)
    context.cover.look_at(real, text)
    return real


def viewed(command: str) -> tuple[str, View] | None:
    """The one file that the command shows, and how much of it."""
    if len(command) > 1000 or not _SIMPLE.fullmatch(command.strip().replace("'", " ").replace('"', " ")):
        return None
    try:
        name, *arguments = shlex.split(command)
    except ValueError:
        return None
    plain = [word for word in arguments if not word.startswith("-")]
    if name in _WHOLE and len(plain) == 1:
        return plain[0], "whole"
    if name in _PART:
        named = [word for word in plain if not word.isdecimal()]
        return (named[0], "range") if len(named) == 1 else None
    if name == "sed" and arguments[:1] == ["-n"] and len(plain) == 2 and _RANGE.fullmatch(plain[0]):
        return plain[1], "range"
    if name in _SEARCH and len(plain) == 2:
        return plain[1], "range"
    return None
