"""One client on standard input and output."""

from __future__ import annotations

from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.runner import serve_loop
from mcp.server.stdio import stdio_server


async def serve_stdio(server: Server[Any]) -> None:
    """Until the client closes its side."""
    async with stdio_server() as (inbound, outbound):
        await serve_loop(server, inbound, outbound, lifespan_state={})
