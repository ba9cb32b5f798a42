"""How a session ends after a cancel: who may go on, and until when.

All values are seconds after the cancel (an interrupt, a signal, or the deadline), so that the whole end takes
less than two of them.
"""

from __future__ import annotations

from typing import Final

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
