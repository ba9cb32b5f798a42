"""Tools that hooks call: an `mcp_tool` hook names a server and one of its tools."""

from __future__ import annotations

from typing import Any

from checkrein.base.errors import NotFoundError, PolicyError
from checkrein.base.ids import short_id
from checkrein.llm.port import Cancel, ToolUse
from checkrein.runtime.call.host import Emit, ToolHost
from checkrein.runtime.tools.port import Aside


def tool_of_server(
    host: ToolHost, server: str, tool: str, input: dict[str, Any], cancel: Cancel, emit: Emit
) -> str:
    """Call the tool and return its text. Raises when the server has no such tool, or when the call is refused
    or fails."""
    name = f"mcp__{server}__{tool}"
    if host.tools.get(name) is None:
        raise NotFoundError(
            f"the MCP server {server} is not connected, has no tool {tool}, or a rule denies it",
            kind="server_not_connected",
        )
    use = ToolUse(short_id("hook_"), name, input)
    finished = host.call_aside(use, Aside(cancel, emit), "hook").finished
    if finished.is_error:
        raise PolicyError(str(finished.content), kind="tool_failed")
    content = finished.content
    return content if isinstance(content, str) else "".join(getattr(part, "text", "") for part in content)
