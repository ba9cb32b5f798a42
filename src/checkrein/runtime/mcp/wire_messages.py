"""The messages in a text that a server sent.

Servers cut texts in the middle of a character, write other encodings and old batches. What they meant is read
where that is clear. An answer that can't be read ends its request, which would wait for ever otherwise.

Only the loop's thread imports this module.
"""

from __future__ import annotations

import json
import re
from typing import Any

from mcp_types import PARSE_ERROR, ErrorData, JSONRPCError, JSONRPCMessage, jsonrpc_message_adapter

from checkrein.base.wellformed import scrubbed

_ID = rb'"id"\s*:\s*(?P<id>\d{1,15}|"[^"\\]{1,80}")'
_FIRST = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?' + _ID)
_LAST = re.compile(_ID + rb'(?:\s*,\s*"jsonrpc"\s*:\s*"2\.0")?\s*\}\s*$')
_METHOD = re.compile(rb'"method"\s*:')
_EDGE = 200
_BATCH_MOST = 100


def messages(text: bytes) -> list[JSONRPCMessage]:
    """Empty when nothing in it is a message or an answer."""
    try:
        return [jsonrpc_message_adapter.validate_json(text, by_name=False)]
    except ValueError:
        pass
    try:
        found = scrubbed(json.loads(text.decode("utf-8-sig", "replace")))
    except (ValueError, RecursionError):
        return _unreadable(text)
    batch = found if isinstance(found, list) else [found]
    return [message for one in batch[:_BATCH_MOST] if (message := _message(one)) is not None]


def _message(found: Any) -> JSONRPCMessage | None:
    if not isinstance(found, dict):
        return None
    number = found.get("id")
    if isinstance(number, float) and number.is_integer():
        found = {**found, "id": int(number)}
    try:
        return jsonrpc_message_adapter.validate_json(json.dumps(found), by_name=False)
    except (ValueError, RecursionError):
        pass
    if "method" not in found and type(found.get("id")) in (int, str):
        return _broken(found["id"])
    return None


def _unreadable(text: bytes) -> list[JSONRPCMessage]:
    """Its number stands at the beginning or at the end."""
    found = _FIRST.match(text[:_EDGE]) or _LAST.search(text[-_EDGE:])
    if found is None or _METHOD.search(text[:_EDGE]):
        return []
    return [_broken(json.loads(found["id"]))]


def _broken(number: int | str) -> JSONRPCError:
    error = ErrorData(code=PARSE_ERROR, message="The server's answer is not a message of MCP.")
    return JSONRPCError(jsonrpc="2.0", id=number, error=error)
