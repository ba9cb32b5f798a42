"""`bridle machine direct-connect-mode`."""

from __future__ import annotations

from bridle.cli.machine import modes
from bridle.cli.registry import Outcome

COMMAND = modes.mode("direct-connect-mode", "Connecting to a running session")


def run(target: str) -> Outcome:
    modes.refuse("direct-connect-mode", target)
