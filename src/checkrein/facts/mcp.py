"""MCP: names of the product and of the protocol."""

from __future__ import annotations

CLIENT_SECRET = "MCP_CLIENT_SECRET"  # noqa: S105  the name of a variable
HINT_PREFIX = "anthropic/"
"""Keys of `_meta` that change how a client treats a tool begin with it."""
SERVER_NAME = r"[A-Za-z0-9_-]+"
"""The names that the command line accepts."""
WRITTEN_TRANSPORTS = ("stdio", "http", "sse")
"""The transports that the command line offers."""
