"""The rules of visibility of a session, as values."""

from __future__ import annotations

from typing import Literal, get_args

SessionMode = Literal["plain", "cook", "headless"]
"""A session that a person or a program starts as usual; one with every skill; a worker that runs one."""

MODES: tuple[SessionMode, ...] = get_args(SessionMode)
