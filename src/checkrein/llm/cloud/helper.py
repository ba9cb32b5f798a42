"""Programs that give credentials. This layer starts none: whoever chooses a model says how they run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from checkrein.base.errors import AuthError
from checkrein.llm.values import loads, part

RunHelper = Callable[[str | tuple[str, ...]], bytes]
"""Runs the command of a setting (a text: the setting's name) or a program of the user's (its words). Gives
what it printed; raises AuthError with the reason."""


def printed_object(run: RunHelper, command: str | tuple[str, ...]) -> dict[str, Any]:
    """The JSON object that a helper prints."""
    said = loads(run(command))
    if not isinstance(said, dict):
        name = command if isinstance(command, str) else command[0]
        raise AuthError(f"{name} did not print a JSON object.", hint="Run it yourself, and look.")
    return dict(part(said))
