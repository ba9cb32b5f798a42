"""`@path` in a prompt or a skill: attaches the file's contents when reading it needs no approval."""

from __future__ import annotations

import os
import re
from collections.abc import Callable

from checkrein.runtime.call.host import ToolHost
from checkrein.runtime.secrets.cover import Cover
from checkrein.runtime.secrets.report import findings
from checkrein.runtime.session.channel import ignored
from checkrein.runtime.session.events import Event

_MENTION = re.compile(r"(?:(?<=\s)|^)@(?:\"(?P<quoted>[^\"\n]+)\"|(?P<plain>[^\s\"]+))")
_MENTION_BYTES = 100_000
_MAX_MENTIONS = 20


def mentions(text: str, host: ToolHost, emit: Callable[[Event], object] = ignored) -> list[str]:
    """One text for each existing file that `text` names, without the secrets in them."""
    if "@" not in text:
        return []
    gate, cwd, cover = host.gate, host.cwd, host.bench.cover("Read")

    def may_read(path: str) -> bool:
        return gate.decide("Read", {"file_path": path}, cwd).verdict == "allow"

    found = _attach(text, cwd, may_read, cover)
    for notice in findings(cover, "Read", cwd):
        emit(notice)
    return found


def _attach(text: str, cwd: str, may_read: Callable[[str], bool], cover: Cover) -> list[str]:
    found: list[str] = []
    seen: set[str] = set()
    for match in _MENTION.finditer(text):
        written = (match["quoted"] or match["plain"]).rstrip(".,;:!?)")
        path = os.path.join(cwd, os.path.expanduser(written))
        if len(found) >= _MAX_MENTIONS or path in seen or "\0" in path or not os.path.isfile(path):
            continue
        seen.add(path)
        if may_read(path):
            found.append(_contents(written, path, cover))
        else:
            found.append(f"@{written} was not attached: reading it is not allowed.")
    return found


def _contents(written: str, path: str, cover: Cover) -> str:
    from checkrein.base.files import read_text

    read = read_text(path, limit=_MENTION_BYTES)
    if not read.readable:
        return f"@{written} was not attached: it {read.problem}."
    return (
        f"Contents of {written}, which is named above:\n\n{cover.text(read.text, os.path.realpath(path), 1)}"
    )
