"""What a server's tools are, as hashes: equal hashes mean the same words to the model.

A hash covers what the model reads and what a client acts on: name, title, description, input schema,
annotations, and the hints in `_meta` that change how a client treats the tool.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec

from checkrein.facts.mcp import HINT_PREFIX
from checkrein.model.items import Server
from checkrein.runtime.mcp.connection import Catalog, RemoteTool
from checkrein.runtime.mcp.server_row import Changes

Hashes = Mapping[str, str]
"""The name of each tool with the hash of its definition."""


def hashes(catalog: Catalog) -> dict[str, str]:
    """Tools that share a name share a hash over all of them."""
    found: dict[str, list[str]] = {}
    for tool in catalog.tools:
        found.setdefault(tool.name, []).append(_digest(_content(tool)))
    return {name: parts[0] if len(parts) == 1 else _digest(sorted(parts)) for name, parts in found.items()}


def compare(known: Hashes, now: Hashes) -> Changes:
    return Changes(
        tuple(name for name in now if name not in known),
        tuple(name for name, value in now.items() if known.get(name, value) != value),
        tuple(name for name in known if name not in now),
    )


def identity(server: Server) -> str:
    """The same for two entries that start the same program or use the same address. Credentials, timeouts
    and other variables may change without making it another server."""
    what = (server.transport, server.command, server.args, server.cwd, server.url, server.headers_helper)
    return _digest(what)


def _content(tool: RemoteTool) -> Any:
    hints = {key: value for key, value in tool.meta.items() if key.startswith(HINT_PREFIX)}
    return tool.name, tool.title, tool.description, tool.schema, tool.annotations, hints


def _digest(content: Any) -> str:
    data = msgspec.json.encode(content, enc_hook=str, order="deterministic")
    return f"sha256:{hashlib.sha256(data).hexdigest()}"
