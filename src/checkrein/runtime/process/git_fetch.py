"""Git for repositories of others: fetch into an empty repository of ours, and read objects out of it.

Nothing is checked out, so no filter, hook, attribute or submodule of the repository has a say. The user's own
credentials work; no other protocol than those named here does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from checkrein.base.origin import Origin
from checkrein.runtime.process.git import OFF, configured, without_filter
from checkrein.runtime.process.spawner import Command, Completed

if TYPE_CHECKING:
    from checkrein.llm.cancel import Cancel
    from checkrein.runtime.process.spawner import Spawner

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
            "init.templateDir": "",
            **without_filter("lfs"),
        }
        clean = {name: value for name, value in env.items() if not name.startswith("GIT_")}
        self._env = configured(clean, settings) | {"LC_ALL": "C", "GIT_LFS_SKIP_SMUDGE": "1"}
        self._spawner = spawner
        self._cancel = cancel
        self._origin = origin
        self._timeout = timeout

    def call(self, *arguments: str, cwd: str, stdin: bytes = b"", spill: str | None = None) -> Completed:
        command = Command(
            argv=("git", "--no-pager", *arguments),
            cwd=cwd,
            origin=self._origin,
            purpose="git",
            env=self._env,
            stdin=stdin,
            timeout=self._timeout,
            spill=spill,
        )
        return self._spawner.run(command, self._cancel)
