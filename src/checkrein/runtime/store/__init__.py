"""Sessions: append-only transcripts that load to a valid conversation after any crash. Start at
`SessionStore`."""

from __future__ import annotations

from checkrein.runtime.store.store import SessionStore
from checkrein.runtime.store.values import (
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
from checkrein.runtime.store.writer import SessionWriter

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
