"""Text that every reader can take: without the lone surrogates of undecodable names and cut replies."""

from __future__ import annotations

from typing import Any

import msgspec


def scrubbed(value: Any) -> Any:
    """The same text or JSON value; U+FFFD replaces each lone surrogate, and a pair becomes its character."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {scrubbed(key): scrubbed(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [scrubbed(item) for item in value]
    return value


def encode(value: Any) -> bytes:
    """JSON of any value, well-formed."""
    try:
        return msgspec.json.encode(value, enc_hook=str)
    except UnicodeEncodeError:
        return msgspec.json.encode(scrubbed(msgspec.to_builtins(value, enc_hook=str)))
