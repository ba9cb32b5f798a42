"""`checkrein machine deep-link-mode`."""

from __future__ import annotations

from checkrein.cli.machine import modes
from checkrein.cli.registry import Outcome

COMMAND = modes.mode("deep-link-mode", "Opening a session from a link")


def run(target: str) -> Outcome:
    modes.refuse("deep-link-mode", target)
