"""`checkrein machine remote-mode`."""

from __future__ import annotations

from checkrein.cli.machine import modes
from checkrein.cli.registry import Outcome

COMMAND = modes.mode("remote-mode", "Working on another machine")


def run(target: str) -> Outcome:
    modes.refuse("remote-mode", target)
