"""The index of a memory: the part in the context, and its size limit."""

from __future__ import annotations

import os

from msgspec import Struct

from checkrein.base.files import read_text
from checkrein.base.origin import Origin
from checkrein.runtime.context.segments import Segment
from checkrein.runtime.memory.place import INDEX

MAX_LINES = 200
MAX_BYTES = 25 * 1024
_NEAR = 0.9
_READ = 1 << 20

_HOW = """\
You have a memory for this project in {directory}. It outlives this session.
{index} is its index, one line for each memory, at most 200 lines and 25 KB; each memory is a file of its own
beside it, with `type` (user, feedback, project or reference) in its frontmatter. Read one when its line fits
the task. Note what later sessions need and can't find in the project: decisions, corrections, preferences.
Never note secrets."""


class Size(Struct, frozen=True):
    lines: int
    bytes: int

    @property
    def over(self) -> bool:
        return self.lines > MAX_LINES or self.bytes > MAX_BYTES

    @property
    def near(self) -> bool:
        return self.lines > MAX_LINES * _NEAR or self.bytes > MAX_BYTES * _NEAR

    def __str__(self) -> str:
        return f"{self.lines} lines and {self.bytes:,} bytes (limits: {MAX_LINES} lines, {MAX_BYTES:,} bytes)"


def size_of(text: str) -> Size:
    return Size(len(text.splitlines()), len(text.encode("utf-8")))


def index_of(directory: str) -> str:
    return os.path.join(directory, INDEX)


def memory_segment(directory: str) -> Segment:
    """The memory's part of the opening: how to use it, and the loaded part of its index."""
    text = _HOW.format(directory=directory, index=INDEX)
    path = index_of(directory)
    read = read_text(path, limit=_READ, within=(directory,))
    if read.readable and read.text.strip():
        shown, cut = loaded(read.text)
        note = f"\n({INDEX} goes on; only this much is loaded. Shorten it.)" if cut else ""
        text = f"{text}\n\nContents of {path}:\n\n{shown}{note}"
    return Segment("project", "memory", text, Origin(path, "user"), pinned=True)


def loaded(text: str) -> tuple[str, bool]:
    """The first 200 lines or 25 KB, whichever is less, in whole lines; and whether that leaves out a part."""
    kept: list[str] = []
    room = MAX_BYTES
    lines = text.strip("\n").splitlines()
    for line in lines[:MAX_LINES]:
        room -= len(line.encode("utf-8")) + 1
        if room < 0:
            break
        kept.append(line)
    return "\n".join(kept), len(kept) < len(lines)
