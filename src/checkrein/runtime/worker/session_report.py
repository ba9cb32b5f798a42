"""What a backend says about a session that is over: values only."""

from __future__ import annotations

import re
from typing import Any, Literal

from msgspec import Struct

Channel = Literal["channel_a", "channel_b", "unmonitored", "dir_missing"]
"""How the end was noticed. `channel_a`: a typed submission, or a result with the marker. `channel_b`: another
record of the session. Checkrein's backends have no channel B; one of somebody else's may."""
Termination = Literal["natural_exit", "completed", "stale", "idle_stall", "timed_out"]
KillReason = Literal["natural_exit", "kill_after_completion", "infra_kill", "exception", "not_applicable"]
SessionSubtype = Literal[
    "success",
    "error_max_turns",
    "error_during_execution",
    "context_exhaustion",
    "unknown",
    "empty_output",
    "unparseable",
    "timeout",
    "interrupted",
    "idle_stall",
]
_ANOMALIES = ("empty_output", "unparseable", "interrupted")
LIMITS = ("error_max_turns", "context_exhaustion")


class Tokens(Struct, frozen=True, kw_only=True):
    input: int = 0
    output: int = 0
    cache_creation: int = 0
    cache_read: int = 0
    cost_usd: float = 0.0


class Written(Struct, frozen=True):
    """A file that a call wrote, or a shell command that ran."""

    tool: str
    text: str


class Report(Struct, frozen=True, kw_only=True):
    """`submission` is the typed result. `texts` are what the model said, in order, `text` its last word.
    `problem` says in words why a session failed."""

    subtype: SessionSubtype = "success"
    is_error: bool = False
    text: str = ""
    submission: dict[str, Any] | None = None
    texts: tuple[str, ...] = ()
    writes: tuple[Written, ...] = ()
    session_id: str = ""
    exit_code: int = 0
    termination: Termination = "natural_exit"
    channel: Channel = "unmonitored"
    kill_reason: KillReason = "natural_exit"
    stderr: str = ""
    tokens: Tokens = Tokens()
    problem: str = ""

    @property
    def is_anomaly(self) -> bool:
        """Whether it looks like a session that was killed in the middle."""
        empty = self.subtype == "success" and not self.text.strip() and self.submission is None
        return self.subtype in _ANOMALIES or empty


def has_marker(text: str, marker: str) -> bool:
    """Whether the marker stands alone on a line; a quoted or nested one does not count."""
    return bool(marker) and re.search(rf"(?m)^[ \t]*{re.escape(marker)}[ \t]*$", text) is not None


def without_marker(text: str, marker: str) -> str:
    if not marker:
        return text.strip()
    return re.sub(rf"(?m)^[ \t]*{re.escape(marker)}[ \t]*\n?", "", text).strip()
