"""A process that puts the terminal back in order when the screen is killed and can't do it itself.

It holds the other end of a pipe: a word means that all is well, the end of the pipe without one that the
screen is gone.
"""

from __future__ import annotations

import contextlib
import os
import sys
from typing import IO, TYPE_CHECKING, Self

from checkrein.cli.screen.terminal import RESET

if TYPE_CHECKING:
    import subprocess

_SCRIPT = (
    'read word && exit 0; stty "$1" <"/dev/fd/$2" 2>/dev/null || stty sane <"/dev/fd/$2"; '
    'printf %s "$3" >"/dev/fd/$2"'
)
_LEAVE_SCREEN = "\x1b[?1049l"


class Watcher:
    def __init__(self, process: subprocess.Popen[bytes], pipe: IO[bytes]) -> None:
        self._process = process
        self._pipe = pipe

    @classmethod
    def start(cls, settings: str | None) -> Self | None:
        """None where there is nothing to restore, or no way to do it. `settings` are those from before."""
        from checkrein.runtime.process.launches import start_helper

        if settings is None:
            return None
        try:
            line = os.dup(sys.stdin.fileno())  # by name it could be another terminal by then
        except OSError:
            return None
        try:
            words = ("/bin/sh", "-c", _SCRIPT, "sh", settings, str(line), f"{RESET}{_LEAVE_SCREEN}\r\n")
            process = start_helper(words, line, piped=True)
        except OSError:
            return None
        finally:
            os.close(line)
        assert process.stdin is not None
        return cls(process, process.stdin)

    def dismiss(self) -> None:
        """The terminal is in order."""
        with contextlib.suppress(OSError):
            self._pipe.write(b"well\n")
            self._pipe.close()
        self._process.wait()
