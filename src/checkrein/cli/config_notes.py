"""What is wrong in the configuration: every command says it, because any of them may do less for it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from checkrein.base.config import load_config
from checkrein.base.diagnostic import Diagnostic
from checkrein.base.errors import CheckreinError
from checkrein.base.home import checkrein_home
from checkrein.dialects.claude.place import locate
from checkrein.facts.config import KEYS

_PLACES = ("project", "path", "spec")
"""Arguments that name the project."""
_TOLD_THERE = ("check", "doctor")
"""Commands whose answer has these findings."""


def findings(root: str) -> tuple[Diagnostic, ...]:
    return load_config(KEYS, Path(root), checkrein_home()).diagnostics


def findings_for(command: str, values: Mapping[str, Any]) -> tuple[Diagnostic, ...]:
    """For the project that the arguments of a command name. Never raises: a place that does not exist is for
    the command to report."""
    if command in _TOLD_THERE:
        return ()
    named = next((values[name] for name in _PLACES if isinstance(values.get(name), str)), ".")
    try:
        return findings(locate(named, env=os.environ).place.root)
    except (CheckreinError, OSError, ValueError):
        return ()
