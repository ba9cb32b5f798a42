"""MCP server entries from any place: `.mcp.json`, settings, a plugin, an agent's frontmatter."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from checkrein.base.jsonpos import join
from checkrein.base.origin import Origin, Span
from checkrein.dialects.codes import Log, diagnose
from checkrein.dialects.coerce import (
    WRONG,
    Coercion,
    as_flag,
    as_int,
    as_map,
    as_scalar,
    as_text_map,
    as_texts,
)
from checkrein.dialects.jsonfile import Document
from checkrein.facts.claude import CALLER_TRANSPORT, SERVER_TIMEOUT_MIN_MS, TRANSPORT_ALIASES, TRANSPORTS
from checkrein.model.items import Server

_KEYS: dict[str, tuple[str, Coercion]] = {
    "command": ("command", as_scalar),
    "args": ("args", as_texts),
    "env": ("env", as_text_map),
    "url": ("url", as_scalar),
    "headers": ("headers", as_text_map),
    "headersHelper": ("headers_helper", as_scalar),
    "oauth": ("oauth", as_map),
    "timeout": ("timeout_ms", as_int),
    "alwaysLoad": ("always_load", as_flag),
    "cwd": ("cwd", as_scalar),
}
_VARIABLE = re.compile(r"\$\{((?:user_config\.)?[A-Za-z_][A-Za-z0-9_]*)(?::-([^}]{0,4096}))?\}")


def read_document(document: Document, log: Log, *, plugin: str | None = None) -> tuple[Server, ...]:
    """The servers of a `.mcp.json`, with `mcpServers` around them or without."""
    if "mcpServers" in document.value:
        return read(document.value["mcpServers"], document, "$.mcpServers", log, plugin=plugin)
    bare = {key: value for key, value in document.value.items() if key != "$schema"}
    return read(bare, document, "$", log, plugin=plugin)


def read(
    value: Any, document: Document, path: str, log: Log, *, plugin: str | None = None
) -> tuple[Server, ...]:
    if not isinstance(value, dict):
        message = "`mcpServers` must be a map from name to server"
        log.append(diagnose("SERVER001", message, document.at(path)))
        return ()
    return tuple(
        server
        for name, entry in value.items()
        if (
            server := read_entry(
                str(name), entry, document.origin, join(path, str(name)), document.spans, log, plugin
            )
        )
    )


def read_entry(
    name: str,
    entry: Any,
    origin: Origin,
    path: str,
    places: dict[str, Span],
    log: Log,
    plugin: str | None = None,
) -> Server | None:
    """One entry.

    An entry that can't work is kept with `problem` set; one that is not an object is reported.
    """
    origin = origin.at(places.get(path, origin.span), path)
    if not isinstance(entry, dict):
        log.append(diagnose("SERVER001", f"The server `{name}` must be an object", origin))
        return None
    taken: dict[str, Any] = {}
    unknown: dict[str, Any] = {}
    spans: dict[str, Span] = {}
    for key, value in entry.items():
        span = places.get(join(path, str(key)))
        if span is not None:
            spans[str(key)] = span
        if key == "type":
            continue
        known = _KEYS.get(key)
        read_value = known[1](value) if known and value is not None else WRONG
        if known and read_value is not WRONG:
            taken[known[0]] = read_value
        elif value is not None or known is None:
            unknown[str(key)] = value
            if known:
                message = f"`{key}` of the server `{name}` has the wrong kind of value; it is ignored"
                log.append(diagnose("SERVER001", message, origin.at(span, join(path, str(key)))))
    if 0 <= taken.get("timeout_ms", SERVER_TIMEOUT_MIN_MS) < SERVER_TIMEOUT_MIN_MS:
        unknown["timeout"] = taken.pop("timeout_ms")
    transport, problem = _transport(entry, taken, origin)
    return Server(
        name=name,
        origin=origin,
        spans=spans,
        unknown=unknown,
        transport=transport,
        problem=problem,
        plugin=plugin,
        **taken,
    )


def _transport(entry: Mapping[Any, Any], taken: Mapping[str, Any], origin: Origin) -> tuple[str, str | None]:
    written = entry.get("type")
    if written is None:
        if "url" in taken and "command" not in taken:
            return "http", 'has `url` but no `type`; write `"type": "http"`'
        return "stdio", None if taken.get("command") else "has no `command`"
    transport = TRANSPORT_ALIASES.get(str(written), str(written))
    if transport == CALLER_TRANSPORT and origin.scope == "cli":
        return transport, None
    if transport not in TRANSPORTS:
        return transport, f"`type` {transport!r} is not one of {', '.join(TRANSPORTS)}"
    if transport == "stdio":
        return transport, None if taken.get("command") else "has no `command`"
    return transport, None if taken.get("url") else "has no `url`"


def variables(server: Server) -> dict[str, str | None]:
    """The `${VAR}` names in an entry, each with its `:-default` or None. It expands nothing."""
    texts = [
        server.command or "",
        server.url or "",
        *server.args,
        *server.env.values(),
        *server.headers.values(),
    ]
    found: dict[str, str | None] = {}
    for text in texts:
        for match in _VARIABLE.finditer(text):
            if found.get(match[1]) is None:
                found[match[1]] = match[2]
    return found


def expand(text: str, env: Mapping[str, str]) -> str:
    """`${VAR}` and `${VAR:-default}` replaced; a name without value and default stays as written."""
    return _VARIABLE.sub(
        lambda match: env.get(match[1], match[2] if match[2] is not None else match[0]), text
    )
