"""The limits of a session: the caller's, else those of the configuration."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from checkrein.base.config import load_config
from checkrein.base.home import checkrein_home
from checkrein.facts.config import KEYS
from checkrein.model.project import Place
from checkrein.runtime.session.budget import Budget

_KEYS = {"requests": "session.max_turns", "usd": "session.max_usd", "seconds": "session.max_seconds"}


def quota(given: Budget, place: Place, env: Mapping[str, str]) -> Budget:
    """`given`, with the limits of the configuration where the caller set none."""
    config = load_config(KEYS, Path(place.root), checkrein_home(env), env)
    configured = {name: config.get(key) for name, key in _KEYS.items() if getattr(given, name) is None}
    return replace(given, **{name: value for name, value in configured.items() if value is not None})
