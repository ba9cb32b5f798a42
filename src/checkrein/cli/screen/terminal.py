"""The terminal itself: what is written in one piece, its size, title and notifications, and how it was."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Literal, TextIO

from prompt_toolkit.data_structures import Size
from prompt_toolkit.output.vt100 import Vt100_Output

from checkrein.base.harmless import one_line

Notification = Literal["auto", "bell", "osc9", "osc777", "none"]
NOTIFICATIONS: tuple[Notification, ...] = ("auto", "bell", "osc9", "osc777", "none")
_FALLBACK = Size(rows=24, columns=80)
_OSC9 = ("iTerm.app", "WezTerm", "ghostty")
RESET = "\x1b[?2004l\x1b[?1l\x1b[?25h\x1b[?7h\x1b[0m"
"""Undoes everything that the screen switches on."""


class Terminal(Vt100_Output):
    """What is drawn between `piece` and its end goes out as one write, so that nothing flickers. It asks the
    terminal nothing: an answer that comes late over a slow line would look like typed text."""

    def __init__(self, stream: TextIO, env: Mapping[str, str]) -> None:
        self._descriptor = stream.fileno()
        self._held = 0
        self._env = env
        self.notification: Notification = "auto"
        super().__init__(stream, self._size, term=env.get("TERM"), enable_cpr=False)

    def _size(self) -> Size:
        try:
            found = os.get_terminal_size(self._descriptor)
        except OSError:
            return _FALLBACK
        return Size(found.lines or _FALLBACK.rows, found.columns or _FALLBACK.columns)

    def flush(self) -> None:
        if not self._held:
            super().flush()

    @contextmanager
    def piece(self) -> Iterator[None]:
        self._held += 1
        try:
            yield
        finally:
            self._held -= 1
            self.flush()

    def name(self, title: str) -> None:
        """Set the title of the window."""
        self.set_title(one_line(title))
        self.flush()

    def notify(self, text: str) -> None:
        """Say to somebody who looks elsewhere that they are needed."""
        kind, said = self._kind(), one_line(text).replace(";", ",")
        if kind == "none":
            return
        if kind == "osc9":
            self.write_raw(f"\x1b]9;{said}\x07")
        elif kind == "osc777":
            self.write_raw(f"\x1b]777;notify;checkrein;{said}\x07")
        self.write_raw("\x07")
        self.flush()

    def copy(self, encoded: str) -> None:
        """Put base64 text on the clipboard of whoever looks at the terminal."""
        self.write_raw(f"\x1b]52;c;{encoded}\x07")
        self.flush()

    def _kind(self) -> Notification:
        if self.notification != "auto":
            return self.notification
        if self._env.get("TMUX") or self._env.get("STY"):
            return "bell"
        if self._env.get("TERM_PROGRAM") in _OSC9:
            return "osc9"
        return "osc777" if self._env.get("VTE_VERSION") else "bell"


def saved_settings(descriptor: int) -> str | None:
    """The terminal's settings as `stty` takes them; None where there are none."""
    import termios

    try:
        flags = termios.tcgetattr(descriptor)
    except termios.error:
        return None
    special = (char[0] if isinstance(char, bytes) else char for char in flags[6])
    return ":".join(f"{number:x}" for number in (*flags[:4], *special))
