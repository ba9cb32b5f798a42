"""The verbs in their two classes. Every verb is in exactly one; docs/opt-out.md says what that means."""

from __future__ import annotations

MACHINE: tuple[str, ...] = (
    "list-sessions",
    "delete-session",
    "load-session",
    "flush-transcript",
    "show-command",
    "show-tool",
    "exec-command",
    "exec-tool",
    "route",
    "bootstrap",
    "command-graph",
    "tool-pool",
    "bootstrap-graph",
    "turn-loop",
)
"""Verbs with a stable payload: a schema version may add fields, and never renames or removes them."""

REPORTS: tuple[str, ...] = ("summary", "manifest", "parity-audit", "setup-report")
_LISTS: tuple[str, ...] = ("subsystems", "commands", "tools")
MODES: tuple[str, ...] = ("remote-mode", "ssh-mode", "teleport-mode", "direct-connect-mode", "deep-link-mode")

OPT_OUT: tuple[str, ...] = (*REPORTS, *_LISTS, *MODES)
"""Verbs for people first. They speak JSON too, but their payload may change with any release."""

VERSIONS: tuple[str, ...] = ("2.0", "1.0")
"""Schema versions, the default first. 1.0 is deprecated."""

EXITS: tuple[tuple[int, str], ...] = (
    (0, "success"),
    (1, "an error, not found or wrong usage"),
    (2, "a time limit passed"),
)
