"""`checkrein machine direct-connect-mode`."""

from __future__ import annotations

from checkrein.cli.machine import modes
from checkrein.cli.registry import Outcome

COMMAND = modes.mode("direct-connect-mode", "Connecting to a running session")


def run(target: str) -> Outcome:
    modes.refuse("direct-connect-mode", target)
