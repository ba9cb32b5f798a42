"""MCP servers in the process of a program that runs a session: functions behind the port `Exchange`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from checkrein.llm.cancel import Cancel
from checkrein.runtime.mcp.connection import ServerFailure

Answer = Callable[[dict[str, Any], Cancel], dict[str, Any]]


class ProgramServers:
    """`tools` are the tools by server and name; each takes the arguments of a call and gives its result.
    `heard` has every message with its server. An answer in `instead`, by method, comes in place of ours."""

    def __init__(self, **tools: dict[str, Answer]) -> None:
        self.tools = tools
        self.heard: list[tuple[str, dict[str, Any]]] = []
        self.instead: dict[str, Any] = {}
        self.capabilities: dict[str, Any] = {"tools": {"listChanged": False}}

    def methods(self, server: str) -> list[str]:
        return [message["method"] for name, message in self.heard if name == server]

    def __call__(self, server: str, message: dict[str, Any], cancel: Cancel) -> dict[str, Any]:
        self.heard.append((server, message))
        if server not in self.tools:
            raise ServerFailure(f"Server '{server}' not found")
        method, id = message["method"], message.get("id")
        if method in self.instead:
            found = self.instead[method]
            answer = found(message, cancel) if callable(found) else found
            return {"jsonrpc": "2.0", "id": id, **answer} if isinstance(answer, dict) else answer
        return {"jsonrpc": "2.0", "id": id, "result": self._result(server, method, message, cancel)}

    def _result(self, server: str, method: str, message: dict[str, Any], cancel: Cancel) -> dict[str, Any]:
        params = message.get("params", {})
        match method:
            case "initialize":
                about = {"name": server, "version": "1.0.0"}
                version = params["protocolVersion"]
                return {"capabilities": self.capabilities, "protocolVersion": version, "serverInfo": about}
            case "tools/list":
                schema = {"type": "object", "properties": {}}
                named = [{"name": name, "inputSchema": schema} for name in self.tools[server]]
                return {"tools": named}
            case "tools/call":
                return self.tools[server][params["name"]](params["arguments"], cancel)
        return {}


def says(text: str, **more: Any) -> Answer:
    """A tool that always says the same."""
    return lambda arguments, cancel: {"content": [{"type": "text", "text": text}], **more}


def configured(*names: str) -> dict[str, Any]:
    """The servers as the SDK names them in `--mcp-config`."""
    return {"mcpServers": {name: {"type": "sdk", "name": name} for name in names}}
