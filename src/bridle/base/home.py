"""The Bridle home: the user's own configuration, trust records, caches and sessions."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path


def bridle_home(env: Mapping[str, str] | None = None) -> Path:
    """`$BRIDLE_HOME`, else the platform's directory for a user's application data."""
    env = os.environ if env is None else env
    explicit = env.get("BRIDLE_HOME")
    if explicit:
        return Path(explicit).expanduser().absolute()
    home = Path(env.get("HOME") or Path.home())
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "bridle"
    if sys.platform == "win32":
        return Path(env.get("LOCALAPPDATA") or home / "AppData" / "Local") / "bridle"
    return Path(env.get("XDG_DATA_HOME") or home / ".local" / "share") / "bridle"


def private_dir(path: Path) -> Path:
    """Make `path` (and its parents) readable by the user alone."""
    path.mkdir(parents=True, exist_ok=True, mode=0o700)
    return path
