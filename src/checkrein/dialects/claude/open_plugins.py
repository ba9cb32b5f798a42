"""Agent Plugins 1.0: what its closed schemas take, and what they refuse."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from msgspec.structs import replace

from checkrein.base.jsonpos import join
from checkrein.dialects.codes import Log, diagnose
from checkrein.dialects.jsonfile import Document
from checkrein.facts import claude_plugins as facts

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def wrong_key(values: Mapping[str, Any]) -> str | None:
    """The first known key of a manifest with a wrong type: it refuses the plugin."""
    for key, value in values.items():
        types = facts.OPEN_MANIFEST_TYPES.get(key)
        if types is not None and not isinstance(value, types):
            return key
    return None


def conforming(document: Document, log: Log) -> Document | None:
    """`mcp.json` with the entries that the schema takes; None when the file itself breaks it."""
    servers = document.value.get("mcpServers")
    if not isinstance(document.value.get("$schema"), str) or not isinstance(servers, dict):
        message = "mcp.json needs `$schema` and `mcpServers`; no server of it is used"
        log.append(diagnose("PLUGIN001", message, document.at("$")))
        return None
    kept = {}
    for name, entry in servers.items():
        problem = _problem(entry)
        if problem is None:
            kept[name] = entry
        else:
            place = document.at(join("$.mcpServers", name))
            log.append(diagnose("PLUGIN005", f"The server `{name}` {problem}; it is not used", place))
    return replace(document, value={"mcpServers": kept})


def _problem(entry: Any) -> str | None:
    if not isinstance(entry, dict):
        return "must be an object"
    fields = facts.OPEN_SERVER_KEYS.get(str(entry.get("type")))
    if fields is None:
        return "needs a `type`: stdio, streamable-http or sse"
    strange = next((key for key in entry if key not in fields), None)
    if strange is not None:
        return f"has the unknown field `{strange}`"
    if entry["type"] == "stdio":
        command = entry.get("command")
        return (
            None
            if isinstance(command, str) and command.split() == [command]
            else "needs one word as `command`"
        )
    url = entry.get("url")
    parts = urlsplit(url) if isinstance(url, str) else None
    if parts is None or not parts.hostname:
        return "needs a `url`"
    encrypted = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)
    return None if encrypted else "must use https"
