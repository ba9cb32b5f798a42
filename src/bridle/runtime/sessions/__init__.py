"""Sessions: append-only transcripts that load to a valid conversation after any crash. Start at
`SessionStore`."""

from __future__ import annotations

from bridle.runtime.sessions.store import SessionStore
from bridle.runtime.sessions.values import (
    Branch,
    Conversation,
    InterruptedCall,
    Match,
    Outline,
    Parent,
    SessionInfo,
    SessionKind,
    Usage,
)
from bridle.runtime.sessions.writer import SessionWriter

__all__ = [
    "Branch",
    "Conversation",
    "InterruptedCall",
    "Match",
    "Outline",
    "Parent",
    "SessionInfo",
    "SessionKind",
    "SessionStore",
    "SessionWriter",
    "Usage",
]
