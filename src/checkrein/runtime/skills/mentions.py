"""`@path` in a prompt or a skill: attaches the file's contents, unless reading it needs approval. Whoever
names a file in a prompt approves of reading it outside the working directories; rules hold all the same."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator

from msgspec import Struct

from checkrein.policy.paths import inside, working_dirs
from checkrein.policy.values import Decision
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
    """What the model gets for a mention: the `contents` of the file at `path`, or nothing of it, and `notice`
    tells the user why."""

    text: str
    path: str = ""
    contents: str | None = None
    notice: str | None = None


def mentions(
    text: str, host: ToolHost, emit: Callable[[Event], object] = ignored, *, by_user: bool = False
) -> list[Attachment]:
    """One attachment for each existing file that `text` names, without the secrets in them. The user learns
    which were not attached, and why. A text `by_user` approves of reading what it names."""
    if "@" not in text:
        return []
    cover = host.bench.cover("Read")
    found = _attachments(text, host.gate, host.cwd, cover, by_user=by_user)
    for one in found:
        if one.notice:
            emit(Notice("warning", one.notice))
    for notice in findings(cover, "Read", host.cwd):
        emit(notice)
    return found


def mentioned(text: str) -> Iterator[str]:
    """What follows each `@` of a text. Marks at the end belong to the sentence, unless they are in quotes."""
    for match in _MENTION.finditer(text):
        yield match["quoted"] or match["plain"].rstrip(".,;:!?)")


def _attachments(text: str, gate: Gate, cwd: str, cover: Cover, *, by_user: bool) -> list[Attachment]:
    """A user approves of the path that they write. Where a link of the project leads is not their choice."""
    found: list[Attachment] = []
    seen: set[str] = set()
    for written in mentioned(text):
        path = os.path.join(cwd, os.path.expanduser(written))
        if len(found) >= _MAX_MENTIONS or path in seen or "\0" in path or not os.path.isfile(path):
            continue
        seen.add(path)
        real = os.path.realpath(path)
        decisions = [gate.decide("Read", {"file_path": one}, cwd) for one in dict.fromkeys((path, real))]
        approved = by_user and not inside(os.path.normpath(path), working_dirs(gate.context(cwd), ()))
        refused = next(
            (one for one in decisions if one.verdict != "allow" and not (approved and _is_open(one))), None
        )
        if refused is None:
            found.append(_attached(written, real, cover))
        else:
            text = f"@{written} was not attached: reading it is not allowed."
            rule = f"{refused.rule} ({refused.origin})" if refused.rule else refused.reason
            found.append(Attachment(text, notice=f"{text} {rule}"))
    return found


def _is_open(decision: Decision) -> bool:
    """Whether it only lacks an approval, and no rule asks for one."""
    return decision.verdict == "ask" and decision.rule is None


def _attached(written: str, real: str, cover: Cover) -> Attachment:
    """The judged file itself: nothing is followed from here on."""
    from checkrein.runtime.tools import files
    from checkrein.runtime.tools.port import ToolFailure

    try:
        data = files.read(real, _MENTION_BYTES, shown=written)
    except ToolFailure as error:
        return Attachment(f"@{written} was not attached: {error}")
    text = cover.text(data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace"), real, 1)
    return Attachment(f"Contents of {written}, which is named above:\n\n{text}", real, text)
