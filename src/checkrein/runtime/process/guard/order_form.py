"""Orders in the form that the compiled children read (`spare.c`)."""

from __future__ import annotations

import os
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

_HEAD = struct.Struct("=5I2i4xQ")
_ROOM = 1 << 15
_MOST_WORDS = 4000
_MOST_TARGETS = 200


def text_of(order: Mapping[str, Any]) -> bytes | None:
    """Directory, program, arguments and environment. None for an order that needs a child in Python: it is
    large, or the kernel could not take its words as they are."""
    argv, env, targets = order["argv"], order["env"], order["targets"]
    words = [order["cwd"], order["path"], *argv, *(f"{name}={value}" for name, value in env.items()), ""]
    text = os.fsencode("\0".join(words))
    beside = len(order["filter"] or b"") + 8 * len(targets) + 4 + _HEAD.size
    if len(text) + beside > _ROOM or len(words) > _MOST_WORDS or len(targets) > _MOST_TARGETS:
        return None
    if text.count(b"\0") != len(words) - 1 or not argv or any(not name or "=" in name for name in env):
        return None
    return text


def packed(order: Mapping[str, Any], text: bytes, descriptors: Sequence[int]) -> bytes:
    """`text` is that of the order."""
    filters, capabilities = order["filter"] or b"", order["capabilities"]
    numbers = (*order["targets"], *descriptors)
    size = _HEAD.size + 4 * len(numbers) + len(filters) + len(text)
    head = _HEAD.pack(
        *(size, len(order["argv"]), len(order["env"]), len(order["targets"]), len(filters)),
        *(order["has_ruleset"], capabilities is not None, capabilities or 0),
    )
    return head + struct.pack(f"={len(numbers)}i", *numbers) + filters + text
