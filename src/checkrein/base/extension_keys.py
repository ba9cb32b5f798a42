"""The configuration of extensions. Only the user may set it."""

from __future__ import annotations

from checkrein.base.config import Key

KEYS = (
    Key("extensions.enabled", bool, True, "Load what installed packages add to Checkrein.", ("user", "env")),
    Key(
        "extensions.disabled",
        list[str],
        [],
        "Packages whose additions Checkrein does not load.",
        ("user", "env"),
    ),
)
