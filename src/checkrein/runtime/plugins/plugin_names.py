"""Names of plugins and marketplaces: which can be used, and which only look like others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from checkrein.base.errors import PolicyError, UsageError
from checkrein.facts import claude_plugins as facts

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_ALIKE = str.maketrans({"0": "o", "1": "l", "i": "l", "5": "s", "3": "e", "_": None, "-": None, ".": None})
_OFFICIAL_OWNERS = ("anthropics",)


def require_plain(name: str, what: str) -> str:
    """Raises UsageError for a name that can't be a folder's, or that hides what it is."""
    if not _NAME.fullmatch(name) or name.endswith((".", "-")):
        raise UsageError(
            f"The {what} name {name!r} can't be used.",
            hint="Names have letters, digits, `.`, `_` and `-`, and begin with a letter or digit.",
        )
    return name


def skeleton(name: str) -> str:
    """What a name looks like: names with one skeleton are easily confused."""
    return name.lower().replace("rn", "m").replace("vv", "w").translate(_ALIKE)


def require_distinct(names: Iterable[str], what: str) -> None:
    """Raises PolicyError when two names are the same or look the same; `what` begins the sentence."""
    seen: dict[str, str] = {}
    for name in names:
        first = seen.setdefault(skeleton(name), name)
        if first is not name:
            twin = f"{name!r} twice" if first == name else f"{name!r}, which looks like {first!r}"
            raise PolicyError(
                f"{what} {twin}.", kind="name_confusing", hint="Tell its owner; nothing was added."
            )


def require_own_name(name: str, source: Mapping[str, Any]) -> None:
    """Raises PolicyError when a marketplace takes a name of the vendor's, or one that looks like it."""
    owner = str(source.get("repo", "")).partition("/")[0].lower()
    if source.get("source") == "github" and owner in _OFFICIAL_OWNERS:
        return
    if skeleton(name) in {skeleton(one) for one in facts.RESERVED_MARKETPLACES}:
        raise PolicyError(
            f"The name {name!r} is reserved, or looks like one that is.",
            kind="name_reserved",
            hint="Only the vendor's own repositories may use it.",
        )


def split_identity(text: str) -> tuple[str, str | None]:
    """`name@marketplace`, or a name alone."""
    name, at, marketplace = text.rpartition("@")
    return (require_plain(name, "plugin"), marketplace) if at else (require_plain(text, "plugin"), None)
