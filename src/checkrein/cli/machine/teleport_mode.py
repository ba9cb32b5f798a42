"""`checkrein machine teleport-mode`."""

from __future__ import annotations

from checkrein.cli.machine import modes
from checkrein.cli.registry import Outcome

COMMAND = modes.mode("teleport-mode", "Moving a session to another machine")


def run(target: str) -> Outcome:
    modes.refuse("teleport-mode", target)
