"""`checkrein machine ssh-mode`."""

from __future__ import annotations

from checkrein.cli.machine import modes
from checkrein.cli.registry import Outcome

COMMAND = modes.mode("ssh-mode", "Working over SSH")


def run(target: str) -> Outcome:
    modes.refuse("ssh-mode", target)
