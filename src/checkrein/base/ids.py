"""Identifiers: random by default, counted from a seed when `CHECKREIN_ID_SEED` is set (repeatable runs)."""

from __future__ import annotations

import os
import re
from itertools import count

_SAFE_ID = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}")
_counter = count(1)


def new_uuid(salt: str = "") -> str:
    """A version 4 UUID in its usual text form. `salt` keeps two seeded processes that share a store apart."""
    seed = os.environ.get("CHECKREIN_ID_SEED")
    if seed:
        import hashlib

        digest = hashlib.sha256(f"{seed}/{salt}{next(_counter)}".encode()).hexdigest()
    else:
        digest = os.urandom(16).hex()
    variant = "89ab"[int(digest[16], 16) & 3]
    return f"{digest[:8]}-{digest[8:12]}-4{digest[13:16]}-{variant}{digest[17:20]}-{digest[20:32]}"


def short_id(prefix: str) -> str:
    """An identifier such as `msg_0f3a…` for things that live inside one session."""
    return prefix + new_uuid().replace("-", "")[:24]


def is_safe_id(text: str) -> bool:
    """True for ids that may become a file name: `[A-Za-z0-9._-]{1,128}` without a leading dot."""
    return _SAFE_ID.fullmatch(text) is not None
