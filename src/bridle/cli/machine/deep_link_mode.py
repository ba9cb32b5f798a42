"""`bridle machine deep-link-mode`."""

from __future__ import annotations

from bridle.cli.machine import modes
from bridle.cli.registry import Outcome

COMMAND = modes.mode("deep-link-mode", "Opening a session from a link")


def run(target: str) -> Outcome:
    modes.refuse("deep-link-mode", target)
