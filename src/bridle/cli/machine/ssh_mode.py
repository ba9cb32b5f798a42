"""`bridle machine ssh-mode`."""

from __future__ import annotations

from bridle.cli.machine import modes
from bridle.cli.registry import Outcome

COMMAND = modes.mode("ssh-mode", "Working over SSH")


def run(target: str) -> Outcome:
    modes.refuse("ssh-mode", target)
