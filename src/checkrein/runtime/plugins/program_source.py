"""Plugins that a program provides: npm packs a package, a command names a directory. No script of a package
runs."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from checkrein.base.errors import PolicyError, UsageError
from checkrein.base.origin import BUNDLED, Origin
from checkrein.runtime.plugins.git_source import FetchError
from checkrein.runtime.process.spawner import Command

if TYPE_CHECKING:
    from checkrein.llm.cancel import Cancel
    from checkrein.runtime.process.spawner import Completed, Spawner

_ORIGIN = Origin(BUNDLED, "bundled", None, "plugins")
_PACKAGE = re.compile(r"(?:@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*")
_VERSION = re.compile(r"[\w.+~^<>=| *-]{1,80}")
_NPM_TIMEOUT = 120.0
LONGEST_COMMAND = 500
_COMMAND_TIMEOUT, _LONGEST_TIMEOUT = 60.0, 600.0


class ProgramSource:
    def __init__(self, env: Mapping[str, str], spawner: Spawner, cancel: Cancel) -> None:
        self._env, self._spawner, self._cancel = env, spawner, cancel

    def npm(self, package: str, staging: str, *, version: str | None, registry: str | None) -> str:
        """The archive of a package, below `staging`."""
        if not _PACKAGE.fullmatch(package) or (version is not None and not _VERSION.fullmatch(version)):
            raise UsageError(f"{package!r} {version or ''} is not a package that npm can have.")
        if registry is not None and not registry.startswith(
            ("https://", "http://127.0.0.1:", "http://localhost:")
        ):
            raise UsageError(f"The registry {registry!r} must begin with https://.")
        into = os.path.join(staging, "packed")
        os.mkdir(into, 0o700)
        words = [
            "npm",
            "pack",
            "--ignore-scripts",
            "--silent",
            "--no-audit",
            "--no-fund",
            "--pack-destination",
        ]
        words += [into, *(("--registry", registry) if registry else ())]
        spec = f"{package}@{version}" if version else package
        done = self._run((*words, "--", spec), into, "npm pack", _NPM_TIMEOUT)
        found = glob.glob(os.path.join(into, "*.tgz"))
        if done.exit_code or len(found) != 1:
            raise FetchError(f"npm could not pack {spec}: {_said(done)}", retryable=True)
        return found[0]

    def command(self, line: str, staging: str, *, timeout: object, accepted: bool) -> str:
        """The directory that a command prints. The user must have accepted exactly this command."""
        if len(line) > LONGEST_COMMAND or not line.isascii() or not line.isprintable():
            raise UsageError(f"A command source has at most {LONGEST_COMMAND} printable ASCII characters.")
        if not accepted:
            raise PolicyError(
                f"This plugin comes from a command, which nobody has accepted here: {line}",
                kind="command_not_accepted",
                hint="Read it. If it may run as you, install again with --accept-command.",
            )
        seconds = float(timeout) if isinstance(timeout, int | float) and timeout > 0 else _COMMAND_TIMEOUT
        done = self._run(line, staging, "a plugin's command", min(seconds, _LONGEST_TIMEOUT))
        printed = done.stdout.decode("utf-8", "replace").strip()
        if done.exit_code or done.timed_out:
            raise FetchError(f"The command failed: {_said(done)}")
        if not os.path.isabs(printed) or "\n" in printed or not os.path.isdir(printed):
            raise FetchError("The command must print one line: the absolute path of a directory.")
        return os.path.realpath(printed)

    def _run(self, argv: tuple[str, ...] | str, cwd: str, purpose: str, timeout: float) -> Completed:
        command = Command(argv=argv, cwd=cwd, origin=_ORIGIN, purpose=purpose, env=self._env, timeout=timeout)
        return self._spawner.run(command, self._cancel)


def _said(done: Completed) -> str:
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else f"status {done.exit_code}"
