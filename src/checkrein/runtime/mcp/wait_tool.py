"""The tool that waits for MCP servers which still connect."""

from __future__ import annotations

from typing import Any

from checkrein.base.harmless import one_line
from checkrein.facts.mcp import STARTUP_MS
from checkrein.policy.tools import builtin_tools
from checkrein.runtime.mcp.connection import Status
from checkrein.runtime.mcp.servers import Servers
from checkrein.runtime.tools.port import ToolContext, ToolDeclaration, ToolFailure, ToolOutput

NAME = "WaitForMcpServers"
_SCHEMA = {
    "type": "object",
    "properties": {
        "servers": {"type": "array", "items": {"type": "string"}, "description": "which; without it all"}
    },
}


class WaitForServers:
    name = NAME
    eager = True
    read_only = True
    aliases = ()
    meaning = builtin_tools().get(NAME)

    def __init__(self, servers: Servers) -> None:
        self._servers = servers
        self.declaration = ToolDeclaration(
            name=NAME,
            schema=_SCHEMA,
            description="Wait until MCP servers are connected, or have failed. Their tools come with the "
            "next message.",
            read_only=True,
            eager=True,
        )

    def run(self, input: dict[str, Any], context: ToolContext) -> ToolOutput:
        known = self._servers.names()
        names = input.get("servers") or known
        unknown = [name for name in names if name not in known]
        if unknown:
            listed = ", ".join(map(one_line, known))
            raise ToolFailure(f"No MCP server is called {one_line(str(unknown[0]))}. There are: {listed}.")
        found = self._servers.wait(names, STARTUP_MS / 1000, context.cancel)
        return ToolOutput(
            content="\n".join(map(_line, found)) or "There are no MCP servers.",
            structured={"servers": [{"name": one.name, "status": one.state} for one in found]},
        )


def _line(status: Status) -> str:
    said = f": {status.error}" if status.error else ""
    return f"{one_line(status.name)}: {status.state}{said}"
