"""The user's browser: `$BROWSER`, else what the desktop opens addresses with. Never through a shell."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import threading
from collections.abc import Mapping
from typing import Protocol
from urllib.parse import urlsplit

from checkrein.base.errors import PolicyError
from checkrein.base.origin import COMMAND_LINE, Origin
from checkrein.facts.mcp import CLIENT_SECRET, ID_TOKEN
from checkrein.llm.cancel import Cancel
from checkrein.runtime.process.command import Command, Completed
from checkrein.runtime.process.environment import without

_ORIGIN = Origin(COMMAND_LINE, "cli")
_MOMENT = 1.0
_DESKTOP = ("DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME")


class Runner(Protocol):
    """The part of the Spawner that a browser needs."""

    def run(self, command: Command, cancel: Cancel) -> Completed: ...


class Browser:
    """Opens addresses. A browser that starts because of it ends with the Spawner; one that runs already
    gets a new page and stays."""

    def __init__(self, spawner: Runner, env: Mapping[str, str], cwd: str) -> None:
        self._spawner = spawner
        self._env = without(env, (CLIENT_SECRET, ID_TOKEN))
        self._cwd = cwd

    def __call__(self, url: str) -> bool:
        """Whether a program took the address. Blocks for a moment: one that fails does so at once."""
        if urlsplit(url).scheme not in ("http", "https"):
            return False
        return any(self._takes(argv) for argv in commands(url, self._env))

    def _takes(self, argv: tuple[str, ...]) -> bool:
        command = Command(
            argv=argv, cwd=self._cwd, origin=_ORIGIN, purpose="the browser", env=self._env, limit=0
        )
        failed = threading.Event()
        ended = threading.Event()

        def run() -> None:
            try:
                if self._spawner.run(command, Cancel()).exit_code != 0:
                    failed.set()
            except PolicyError:
                failed.set()
            finally:
                ended.set()

        threading.Thread(target=run, daemon=True).start()
        ended.wait(_MOMENT)
        return not failed.is_set()


def commands(url: str, env: Mapping[str, str]) -> list[tuple[str, ...]]:
    """The programs to try, in order. `$BROWSER` is a list with colons; `%s` in it stands for the address."""
    named = [_filled(one, url) for one in env.get("BROWSER", "").split(os.pathsep) if one.strip()]
    found = [argv for argv in named if argv and _exists(argv[0], env)]
    return found or _of_desktop(url, env)


def _filled(text: str, url: str) -> tuple[str, ...]:
    try:
        words = shlex.split(text)
    except ValueError:
        return ()
    if any("%s" in word for word in words):
        return tuple(word.replace("%s", url) for word in words)
    return (*words, url) if words else ()


def _of_desktop(url: str, env: Mapping[str, str]) -> list[tuple[str, ...]]:
    if sys.platform == "darwin":
        return [("/usr/bin/open", url)]
    if not any(env.get(name) for name in _DESKTOP):
        return []
    return [(name, url) for name in ("xdg-open", "wslview") if _exists(name, env)]


def _exists(program: str, env: Mapping[str, str]) -> bool:
    return shutil.which(program, path=env.get("PATH")) is not None
