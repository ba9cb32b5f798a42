"""Git for the worktrees of one repository: hardened, repeated while another git holds a lock."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from checkrein.base.errors import FileError
from checkrein.runtime.process.git import change_git

if TYPE_CHECKING:
    from checkrein.llm.cancel import Cancel
    from checkrein.runtime.process.spawner import Completed, Spawner

_TIMEOUT = 300.0
_TRIES = 40
_PAUSE = 0.02
_LOCKED = re.compile(
    r"could not lock|unable to create '.*\.lock'|cannot lock ref|another git process|unable to lock", re.I
)


class Git:
    """Nothing that the repository names runs."""

    def __init__(self, env: Mapping[str, str], spawner: Spawner) -> None:
        self._env = env
        self._spawner = spawner

    def call(self, cwd: str, cancel: Cancel, *arguments: str) -> Completed:
        """Tries again while git finds the lock of another git."""
        for attempt in range(_TRIES):
            done = change_git(
                arguments,
                cwd=cwd,
                env=self._env,
                spawner=self._spawner,
                cancel=cancel,
                timeout=_TIMEOUT,
            )
            if done.exit_code == 0 or not _LOCKED.search(said(done)):
                break
            if cancel.wait(_PAUSE * (attempt + 1) * (0.5 + os.urandom(1)[0] / 255)):
                break
        return done

    def text(self, cwd: str, cancel: Cancel, *arguments: str) -> str | None:
        """What a command prints, without its last newline; None when it fails."""
        done = self.call(cwd, cancel, *arguments)
        return None if done.exit_code else decoded(done.stdout).removesuffix("\n")

    def must(self, cwd: str, cancel: Cancel, *arguments: str) -> str:
        """What a command prints. Raises FileError with git's own words when it fails."""
        done = self.call(cwd, cancel, *arguments)
        if done.exit_code:
            raise FileError(
                f"git {' '.join(arguments[:2])} failed: {said(done) or f'status {done.exit_code}'}",
                kind="worktree_git_failed",
                retryable=_LOCKED.search(said(done)) is not None,
            )
        return decoded(done.stdout)

    def names(self, cwd: str, cancel: Cancel, *arguments: str) -> list[str]:
        """The names that a command prints with `-z`. A list that is too long ends early."""
        done = self.call(cwd, cancel, *arguments)
        return decoded(done.stdout).split("\0")[:-1] if done.exit_code == 0 else []


def decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def said(done: Completed) -> str:
    """The last line of what git complained about."""
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    fatal = [line for line in lines if line.startswith(("fatal:", "error:"))]
    return (fatal or lines or [""])[-1]
