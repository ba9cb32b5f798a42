"""A temporary directory for one command that may write nowhere else. It ends with the command."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable

from msgspec.structs import replace

from checkrein.runtime.process.command import Command


def with_scratch(command: Command) -> tuple[Command, Callable[[], None]]:
    """A command that is held to reading, with its own temporary directory; and what removes that.

    git takes no locks in it: it refreshes its index on the way, and that would fail."""
    assert command.sandbox is not None
    directory = tempfile.mkdtemp(prefix="checkrein-")
    places = dict.fromkeys(("TMPDIR", "TMP", "TEMP"), directory)
    env = {**command.env, **places, "GIT_OPTIONAL_LOCKS": "0"}
    made = replace(command, env=env, sandbox=replace(command.sandbox, write=(directory,)))
    return made, lambda: shutil.rmtree(directory, ignore_errors=True)
