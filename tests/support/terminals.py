"""A program in a terminal: a real pty, and an emulator in memory that shows what a person would see."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyte

PATIENCE = 20.0
_REDRAWN = 0.1
"""Seconds after which a frame is whole."""
"""Seconds that something may take on a loaded machine."""
ENTER = "\r"
ESC = "\x1b"
TAB = "\t"
SHIFT_TAB = "\x1b[Z"
UP, DOWN = "\x1b[A", "\x1b[B"
ALT_ENTER = "\x1b\r"


def ctrl(letter: str) -> str:
    return chr(ord(letter.upper()) - 64)


def pasted(text: str) -> str:
    return f"\x1b[200~{text}\x1b[201~"


class Terminal:
    """`raw` is everything that the program wrote. `text` is what stands in the scrollback and on the screen
    now."""

    def __init__(
        self,
        cwd: Path,
        *words: str,
        rows: int = 24,
        columns: int = 80,
        program: tuple[str, ...] = (sys.executable, "-m", "checkrein"),
        **env: str,
    ) -> None:
        self._screen: Any = pyte.HistoryScreen(columns, rows, history=5000, ratio=0.1)
        self._stream = pyte.ByteStream(self._screen)
        self._lock = threading.Condition()
        self.raw = bytearray()
        self._master, slave = pty.openpty()
        self.before = termios.tcgetattr(slave)
        self._slave = slave
        self._size(rows, columns)
        given = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "", "LINES": "", **env}
        self.process = subprocess.Popen(
            [*program, *words],
            cwd=cwd,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={name: value for name, value in given.items() if value != ""},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self._slave)
        self._reader.join(2)
        with contextlib.suppress(OSError):
            os.close(self._master)

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self._master, 65536)
            except OSError:
                return
            if not data:
                return
            with self._lock:
                self.raw += data
                self._stream.feed(data)
                self._lock.notify_all()

    def _size(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self._slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, rows: int, columns: int) -> None:
        with self._lock:
            self._screen.resize(rows, columns)
        self._size(rows, columns)

    def send(self, *keys: str) -> Self:
        data = "".join(keys).encode()
        while data:
            data = data[os.write(self._master, data[:4096]) :]
        return self

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in self._screen.display]

    @property
    def text(self) -> str:
        above = ["".join(row[at].data for at in range(self._screen.columns)) for row in self._above()]
        return "\n".join([*(line.rstrip() for line in above), *self.lines])

    def _above(self) -> list[Any]:
        return list(self._screen.history.top)

    @property
    def cursor(self) -> tuple[int, int]:
        return self._screen.cursor.y, self._screen.cursor.x

    @property
    def title(self) -> str:
        return str(self._screen.title)

    def wait(self, wanted: str | Callable[[Terminal], object], patience: float = PATIENCE) -> Self:
        """Wait until the text is there, or the condition holds."""
        seen = wanted if callable(wanted) else lambda terminal: wanted in terminal.text
        until = time.monotonic() + patience
        with self._lock:
            while not seen(self):
                left = until - time.monotonic()
                if left <= 0:
                    shown = self.text[-4000:]
                    raise AssertionError(f"{wanted!r} never came; the terminal shows:\n{shown}")
                self._lock.wait(left)
        return self

    def turns(self, number: int) -> Self:
        """Wait until so many turns are over."""
        return self.wait(lambda terminal: len(re.findall(r" · [\d,]+ tokens", terminal.text)) >= number)

    def gone(self, unwanted: str) -> Self:
        """Wait until the text has left the screen, and not only for the moment in which it is drawn again."""

        def absent(terminal: Terminal) -> bool:
            return unwanted not in "\n".join(terminal.lines)

        while not absent(self.wait(absent)._rested()):
            pass
        return self

    def _rested(self) -> Self:
        time.sleep(_REDRAWN)
        return self

    def ended(self, patience: float = PATIENCE) -> int:
        return self.process.wait(patience)

    @property
    def colors(self) -> set[str]:
        """The parameters of all colours and attributes that were written."""
        found = re.findall(rb"\x1b\[([0-9;]*)m", self.raw)
        return {code.decode() for code in found if code not in (b"", b"0")}

    @property
    def settings(self) -> list[Any]:
        """The settings of the line now, to compare with `before`."""
        return termios.tcgetattr(self._slave)


def scripted(directory: Path, turns: Sequence[Mapping[str, Any]]) -> str:
    """A model that answers with these turns."""
    path = directory / f"script-{len(list(directory.glob('script-*')))}.jsonl"
    path.write_text("".join(f"{json.dumps(turn)}\n" for turn in turns))
    return f"scripted:{path}"


def opened(
    project: Path,
    directory: Path,
    turns: Sequence[Mapping[str, Any]],
    *words: str,
    wait: str = "Ctrl-D leaves",
    **env: Any,
) -> Terminal:
    """The screen, as soon as its session is there."""
    terminal = Terminal(project, "--model", scripted(directory, turns), *words, **env)
    return terminal.wait(wait)
