"""The configuration of extensions: the user's alone."""

from __future__ import annotations

from checkrein.base.config import Key

KEYS = (
    Key("extensions.enabled", bool, True, "Load what installed packages add to Checkrein.", ("user", "env")),
    Key("extensions.disabled", list[str], [], "Packages whose additions are not loaded.", ("user", "env")),
)
