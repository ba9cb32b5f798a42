"""`bridle machine teleport-mode`."""

from __future__ import annotations

from bridle.cli.machine import modes
from bridle.cli.registry import Outcome

COMMAND = modes.mode("teleport-mode", "Moving a session to another machine")


def run(target: str) -> Outcome:
    modes.refuse("teleport-mode", target)
