"""A temporary directory for one command that may write nowhere else. It ends with the command."""

from __future__ import annotations

import shutil
import tempfile

from msgspec.structs import replace

from checkrein.runtime.process.command import Command


def with_scratch(command: Command) -> tuple[Command, str | None]:
    """The command with its own temporary directory, if its sandbox holds it to reading, and where that is.

    git takes no locks in it: it refreshes its index on the way, and that would fail."""
    sandbox = command.sandbox
    if sandbox is None or not sandbox.only_reads:
        return command, None
    directory = tempfile.mkdtemp(prefix="checkrein-")
    places = dict.fromkeys(("TMPDIR", "TMP", "TEMP"), directory)
    env = {**command.env, **places, "GIT_OPTIONAL_LOCKS": "0"}
    return replace(command, env=env, sandbox=replace(sandbox, write=(directory,))), directory


def remove_scratch(directory: str | None) -> None:
    if directory is not None:
        shutil.rmtree(directory, ignore_errors=True)
