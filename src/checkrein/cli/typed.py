"""A line that a person types, awaited in a way that a cancel ends."""

from __future__ import annotations

import contextlib
import os
import select
import sys
from typing import TYPE_CHECKING

from checkrein.cli import out

if TYPE_CHECKING:
    from checkrein.llm.port import Cancel


def line(prompt: str, cancel: Cancel) -> str | None:
    """What the person answers; None after a cancel, or at the end of the input. No thread stays in a read:
    the interpreter could not end then."""
    out.say(prompt, nl=False, err=True)
    woken, wake = os.pipe()
    try:
        with cancel.on_cancel(lambda: _poke(wake)):
            ready, _, _ = select.select([sys.stdin, woken], [], [])
        if woken in ready:
            out.say(err=True)
            return None
        said = sys.stdin.readline()
        return said.strip() if said else None
    finally:
        os.close(woken)
        os.close(wake)


def _poke(wake: int) -> None:
    with contextlib.suppress(OSError):
        os.write(wake, b".")
