"""How a session ends after a cancel: who may go on, and until when.

All values are seconds after the cancel (an interrupt, a signal, or the deadline), so that the whole end takes
less than two of them.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from checkrein.runtime.process.command import GRACE

if TYPE_CHECKING:
    from checkrein.llm.cancel import Cancel

HOOKS_UNTIL: Final = 0.9
"""Hooks that learn of something that has happened."""
TOOLS_UNTIL: Final = 1.0
"""Work that does not listen; the turn goes on without it."""
CHILDREN_UNTIL: Final = 2.0
"""Subagents of a session that ends without a cancel: they let go of their worktrees."""
SESSION_END_UNTIL: Final = 1.1
"""SessionEnd hooks."""
PROCESSES_UNTIL: Final = 1.5
"""Every other process of the session."""
LAST: Final = 1.65
"""A program on the command line gives its result and exits, whatever still runs."""


def processes_grace(cancel: Cancel) -> float:
    """The seconds that processes have to end by themselves: few after a cancel."""
    if cancel.forced:
        return 0.0
    if cancel.at is None:
        return GRACE
    return max(0.1, min(GRACE, cancel.at + PROCESSES_UNTIL - time.monotonic()))
