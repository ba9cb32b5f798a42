"""Where a run works: here, in a new worktree, or in the one that its session had."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from checkrein.base.errors import CheckreinError, UsageError
from checkrein.cli.run_options import project_of, session_options

if TYPE_CHECKING:
    from checkrein.model.view import View
    from checkrein.protocol.handshake import Greeting
    from checkrein.runtime.session.options import Options


@contextmanager
def place_of_run(values: dict[str, Any], greeting: Greeting | None = None) -> Iterator[tuple[View, Options]]:
    """The project and the options, there. Afterwards it says what stays of a worktree."""
    view, options = project_of(values, greeting), session_options(values)
    wanted: str | None = values["worktree"]
    if wanted is not None and (options.resume or options.continue_):
        raise UsageError("--worktree makes a new worktree; a session that goes on has its own, or none.")
    from checkrein.cli import run_output
    from checkrein.runtime.worktrees.workplace import Workplace, worktree_of_session

    had: str | None = None
    if wanted is None:
        had = worktree_of_session(str(options.resume), view.project.place.cwd, options.sessions)
        if had is None:
            yield view, options
            return
    place = Workplace(view, options, values["model"], os.environ)
    try:
        if had is None:
            place.open_new(wanted or None)
        elif not os.path.isdir(had):
            run_output.warn(f"The session's worktree {had} is gone; it goes on here.")
            yield view, options
            return
        else:
            place.open_old(had)
        values["project"] = place.cwd
        yield project_of(values, greeting), replace(options, worktree=place.path)
    finally:
        try:
            kept = place.close()
        except CheckreinError as error:
            run_output.warn(f"The worktree stays as it is: {error.message}")
        else:
            if kept is not None:
                branch = f" on the branch {kept.branch}" if kept.branch else ""
                run_output.warn(f"The worktree {kept.path}{branch} stays: {kept.reason}.")
