"""Whether nobody acknowledged the end of a turn in a session. The mark is a line of its transcript."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

_MARK = b'"suspect":'
"""What every marked transcript holds. In a message the quotes would be escaped; an input may hold it too."""
_CHUNK = 1 << 18


def suspicion(path: Path) -> dict[str, Any] | None:
    """The facts of the mark, None for a session without one. Streams; only a likely file is parsed."""
    from bridle.base.errors import BridleError
    from bridle.runtime.sessions.load import outline

    if not _may_be_marked(path):
        return None
    try:
        facts = outline(path).state.get("suspect")
    except BridleError:
        return None  # gone since it was listed
    return facts if isinstance(facts, dict) else None


def _may_be_marked(path: Path) -> bool:
    rest = b""
    try:
        with open(path, "rb", buffering=0) as file:
            while chunk := file.read(_CHUNK):
                if _MARK in rest + chunk[: len(_MARK)] or _MARK in chunk:
                    return True
                rest = chunk[1 - len(_MARK) :]
    except OSError:
        return False
    return False
