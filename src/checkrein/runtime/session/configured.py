"""A value of Checkrein's own configuration, when a session needs one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from checkrein.model.project import Place


def configured(place: Place, env: Mapping[str, str], name: str) -> Any:
    """The value in effect for a declared key. It reads the files when a session asks, not before."""
    from checkrein.base.config import load_config
    from checkrein.base.home import checkrein_home
    from checkrein.facts.config import KEYS

    return load_config(KEYS, Path(place.root), checkrein_home(env), env).get(name)
