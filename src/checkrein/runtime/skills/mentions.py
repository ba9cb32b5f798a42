"""`@path` in a prompt or a skill: attaches the file's contents when reading it needs no approval."""

from __future__ import annotations

import os
import re
from collections.abc import Callable

from checkrein.runtime.call.gate import Gate

_MENTION = re.compile(r"(?:(?<=\s)|^)@(?:\"(?P<quoted>[^\"\n]+)\"|(?P<plain>[^\s\"]+))")
_MENTION_BYTES = 100_000
_MAX_MENTIONS = 20


def mentions(text: str, gate: Gate, cwd: str) -> list[str]:
    """One text for each existing file that `text` names."""
    if "@" not in text:
        return []
    return _attach(text, cwd, lambda path: gate.decide("Read", {"file_path": path}, cwd).verdict == "allow")


def _attach(text: str, cwd: str, may_read: Callable[[str], bool]) -> list[str]:
    found: list[str] = []
    seen: set[str] = set()
    for match in _MENTION.finditer(text):
        written = (match["quoted"] or match["plain"]).rstrip(".,;:!?)")
        path = os.path.join(cwd, os.path.expanduser(written))
        if len(found) >= _MAX_MENTIONS or path in seen or "\0" in path or not os.path.isfile(path):
            continue
        seen.add(path)
        if may_read(path):
            found.append(_contents(written, path))
        else:
            found.append(f"@{written} was not attached: reading it is not allowed.")
    return found


def _contents(written: str, path: str) -> str:
    from checkrein.base.files import read_text

    read = read_text(path, limit=_MENTION_BYTES)
    if not read.readable:
        return f"@{written} was not attached: it {read.problem}."
    return f"Contents of {written}, which is named above:\n\n{read.text}"
