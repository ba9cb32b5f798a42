"""MCP servers in the host's process: `mcp_message`."""

from __future__ import annotations

from typing import Any

from checkrein.llm.cancel import Cancel
from checkrein.protocol.requests import HostError, Requests
from checkrein.runtime.mcp.connection import ServerFailure
from checkrein.runtime.mcp.program_port import Exchange


def exchange_with(requests: Requests) -> Exchange:
    """Carries JSON-RPC messages to the servers of the host, and their answers back."""

    def exchange(server: str, message: dict[str, Any], cancel: Cancel) -> dict[str, Any]:
        request = {"subtype": "mcp_message", "server_name": server, "message": message}
        try:
            response = requests.ask(request, cancel).get("mcp_response")
        except HostError as error:
            kind = "cancelled" if error.why == "late" else error.why
            raise ServerFailure(error.message, kind=kind) from error
        if not isinstance(response, dict):
            raise ServerFailure(f"The host's answer for the server {server} is not a message.")
        return response

    return exchange
