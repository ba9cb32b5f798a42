"""The Checkrein home: the user's own configuration, trust records, caches and sessions."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def checkrein_home(env: Mapping[str, str] | None = None) -> Path:
    """`$CHECKREIN_HOME`, else the platform's directory for a user's application data."""
    from pathlib import Path

    return Path(home_path(env))


def home_path(env: Mapping[str, str] | None = None) -> str:
    """The same directory as text, for a quick start that only looks into it."""
    env = os.environ if env is None else env
    explicit = env.get("CHECKREIN_HOME")
    if explicit:
        return os.path.join(os.getcwd(), os.path.expanduser(explicit))
    home = env.get("HOME") or os.path.expanduser("~")
    if sys.platform == "darwin":
        base = os.path.join(home, "Library", "Application Support")
    elif sys.platform == "win32":
        base = env.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
    else:
        base = env.get("XDG_DATA_HOME") or os.path.join(home, ".local", "share")
    return os.path.join(base, "checkrein")


def lock_of(file: str) -> Path:
    """The lock for a file outside the Checkrein home: one change at a time on this machine."""
    from hashlib import sha256

    key = sha256(os.path.realpath(file).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return private_dir(checkrein_home()) / "locks" / f"{key}.lock"


def private_dir(path: Path) -> Path:
    """Make `path` (and its parents) readable by the user alone."""
    path.mkdir(parents=True, exist_ok=True, mode=0o700)
    return path
