"""What a run stands on: its project and options, and what its flags can't do."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from checkrein.model.view import View
    from checkrein.protocol.handshake import Greeting
    from checkrein.runtime.session.options import Options

_NAMING = ("allowed_tools", "disallowed_tools", "tools", "plugin_dir", "prompt_tool")
"""Flags whose values name something that may not exist."""


def place(
    values: dict[str, Any], greeting: Greeting | None = None
) -> AbstractContextManager[tuple[View, Options]]:
    """The project and the options; only a run in a worktree needs more than this directory."""
    if values["worktree"] is None and not values["resume"]:
        from contextlib import nullcontext

        from checkrein.cli.run_options import project_of, session_options

        return nullcontext((project_of(values, greeting), session_options(values)))
    from checkrein.cli.run_place import place_of_run

    return place_of_run(values, greeting)


def warnings(values: dict[str, Any], options: Options) -> Iterator[str]:
    from checkrein.cli.idle_flags import idle

    yield from idle(values)
    if any(values[name] for name in _NAMING):
        from checkrein.cli.doubtful_values import doubtful

        yield from doubtful(values)
    for path in values["add_dir"]:
        if not os.path.isdir(path):
            yield f"--add-dir {path} is not a directory."
    if options.mode == "bypassPermissions" and not options.sandbox and _is_root():
        yield "Checkrein asks nothing and you are root: a command can do everything on this machine."


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0
