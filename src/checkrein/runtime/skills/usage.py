"""How often sessions loaded each skill. A list that is too long keeps the descriptions used most."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path

import msgspec

from checkrein.base.files import locked, write_atomic
from checkrein.base.home import checkrein_home, private_dir

_FILE = "skill-usage.json"
MOST = 2_000


def counts(env: Mapping[str, str]) -> dict[str, int]:
    """Loads by name; empty when there is no record."""
    try:
        return msgspec.json.decode(_path(env).read_bytes(), type=dict[str, int])
    except (OSError, msgspec.DecodeError):
        return {}


def note(name: str, env: Mapping[str, str]) -> None:
    """Count one load. A failure to keep the count stops nothing."""
    path = _path(env)
    with contextlib.suppress(OSError):
        private_dir(path.parent)
        with locked(path.with_name(f"{_FILE}.lock")):
            found = counts(env)
            found[name] = found.get(name, 0) + 1
            kept = sorted(found.items(), key=lambda one: (-one[1], one[0]))[:MOST]
            write_atomic(path, msgspec.json.encode(dict(kept)), 0o600)


def _path(env: Mapping[str, str]) -> Path:
    return checkrein_home(env) / "cache" / _FILE
