"""`@path` in a prompt or a skill: attaches the file's contents when reading it needs no approval."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator

from msgspec import Struct

from checkrein.runtime.call.gate import Gate
from checkrein.runtime.call.host import ToolHost
from checkrein.runtime.secrets.cover import Cover
from checkrein.runtime.secrets.report import findings
from checkrein.runtime.session.channel import ignored
from checkrein.runtime.session.events import Event, Notice

_MENTION = re.compile(r"(?:(?<=\s)|^)@(?:\"(?P<quoted>[^\"\n]+)\"|(?P<plain>[^\s\"]+))")
_MENTION_BYTES = 100_000
_MAX_MENTIONS = 20


class Attachment(Struct, frozen=True):
    """What the model gets for a mention. `notice` tells the user why it is not the file."""

    text: str
    notice: str | None = None


def mentions(text: str, host: ToolHost, emit: Callable[[Event], object] = ignored) -> list[str]:
    """One text for each existing file that `text` names, without the secrets in them. The user learns which
    were not attached, and why."""
    if "@" not in text:
        return []
    cover = host.bench.cover("Read")
    found = _attachments(text, host.gate, host.cwd, cover)
    for one in found:
        if one.notice:
            emit(Notice("warning", one.notice))
    for notice in findings(cover, "Read", host.cwd):
        emit(notice)
    return [one.text for one in found]


def mentioned(text: str) -> Iterator[str]:
    """What follows each `@` of a text. Marks at the end belong to the sentence, unless they are in quotes."""
    for match in _MENTION.finditer(text):
        yield match["quoted"] or match["plain"].rstrip(".,;:!?)")


def _attachments(text: str, gate: Gate, cwd: str, cover: Cover) -> list[Attachment]:
    found: list[Attachment] = []
    seen: set[str] = set()
    for written in mentioned(text):
        path = os.path.join(cwd, os.path.expanduser(written))
        if len(found) >= _MAX_MENTIONS or path in seen or "\0" in path or not os.path.isfile(path):
            continue
        seen.add(path)
        real = os.path.realpath(path)
        decisions = [gate.decide("Read", {"file_path": one}, cwd) for one in dict.fromkeys((path, real))]
        refused = next((one for one in decisions if one.verdict != "allow"), None)
        if refused is None:
            found.append(Attachment(_contents(written, real, cover)))
        else:
            text = f"@{written} was not attached: reading it is not allowed."
            rule = f"{refused.rule} ({refused.origin})" if refused.rule else refused.reason
            found.append(Attachment(text, f"{text} {rule}"))
    return found


def _contents(written: str, real: str, cover: Cover) -> str:
    """The judged file itself: nothing is followed from here on."""
    from checkrein.runtime.tools import files
    from checkrein.runtime.tools.port import ToolFailure

    try:
        data = files.read(real, _MENTION_BYTES, shown=written)
    except ToolFailure as error:
        return f"@{written} was not attached: {error}"
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    return f"Contents of {written}, which is named above:\n\n{cover.text(text, real, 1)}"
