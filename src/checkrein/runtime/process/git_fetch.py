"""Git for repositories of others: fetch into an empty repository of ours, and read objects out of it.

Nothing is checked out, so no filter, hook, attribute or submodule of the repository has a say. The user's own
credentials work; no other protocol than those named here does.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from checkrein.base.origin import Origin
from checkrein.runtime.process.git import OFF, configured, without_filter
from checkrein.runtime.process.spawner import Command, Completed

if TYPE_CHECKING:
    from checkrein.llm.cancel import Cancel
    from checkrein.runtime.process.capture import Filter
    from checkrein.runtime.process.spawner import Spawner

_LOOK = 0.1
"""Seconds between two looks at the size of what is fetched."""
_USERS_OWN = ("core.sshCommand", "credential.helper", "core.askPass")


class GitFetch:
    """Git calls on behalf of `origin`. `protocols` are those that an address may have."""

    def __init__(
        self,
        env: Mapping[str, str],
        spawner: Spawner,
        cancel: Cancel,
        origin: Origin,
        *,
        protocols: tuple[str, ...],
        timeout: float,
    ) -> None:
        settings = {key: value for key, value in OFF.items() if key not in _USERS_OWN}
        settings |= {f"protocol.{name}.allow": "always" for name in protocols}
        settings |= {
            "core.sshCommand": "ssh -oBatchMode=yes",
            "fetch.recurseSubmodules": "false",
            "fetch.unpackLimit": "1",
            "init.templateDir": "",
            **without_filter("lfs"),
        }
        clean = {name: value for name, value in env.items() if not name.startswith("GIT_")}
        self._env = configured(clean, settings) | {"LC_ALL": "C", "GIT_LFS_SKIP_SMUDGE": "1"}
        self._spawner = spawner
        self._cancel = cancel
        self._origin = origin
        self._timeout = timeout

    def call(self, *arguments: str, cwd: str, stdin: bytes = b"") -> Completed:
        return self._spawner.run(self._command(arguments, cwd, stdin), self._cancel)

    def bounded(self, *arguments: str, cwd: str, most: int) -> Completed | None:
        """The same, as long as the files below `cwd` have at most so many bytes together; None beyond that.
        The server says how much it sends, and git itself knows no limit."""
        over, done = threading.Event(), threading.Event()
        with self._cancel.branch() as part:

            def watch() -> None:
                while not done.wait(_LOOK):
                    if _size(cwd) > most:
                        over.set()
                        part.force()
                        return

            watcher = threading.Thread(target=watch, name="checkrein-fetch-size", daemon=True)
            watcher.start()
            try:
                completed = self._spawner.run(self._command(arguments, cwd, b""), part)
            finally:
                done.set()
                watcher.join()
        return None if over.is_set() or _size(cwd) > most else completed

    def spilled(
        self,
        *arguments: str,
        cwd: str,
        into: str,
        limit: int,
        stdin: bytes = b"",
        filter: Filter | None = None,
    ) -> Completed:
        """With all output in the file `into`, up to `limit` bytes. `filter` sees it first and may raise."""
        command = replace(
            self._command(arguments, cwd, stdin), limit=0, spill=into, spill_limit=limit, filter=filter
        )
        return self._spawner.run(command, self._cancel)

    def _command(self, arguments: tuple[str, ...], cwd: str, stdin: bytes) -> Command:
        return Command(
            argv=("git", "--no-pager", *arguments),
            cwd=cwd,
            origin=self._origin,
            purpose="git",
            env=self._env,
            stdin=stdin,
            timeout=self._timeout,
        )


def _size(folder: str) -> int:
    found = 0
    for place, _, files in os.walk(folder):
        for name in files:
            try:
                found += os.lstat(os.path.join(place, name)).st_size
            except OSError:
                continue
    return found
