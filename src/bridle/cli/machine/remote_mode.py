"""`bridle machine remote-mode`."""

from __future__ import annotations

from bridle.cli.machine import modes
from bridle.cli.registry import Outcome

COMMAND = modes.mode("remote-mode", "Working on another machine")


def run(target: str) -> Outcome:
    modes.refuse("remote-mode", target)
