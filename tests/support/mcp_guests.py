"""A client of a served project: the official one of the `mcp` package, in the same process."""

from __future__ import annotations

import json
from typing import Any

import mcp_types as types
from mcp.client import Client


class Guest:
    """A client, what it heard, and the questions that it was asked. It answers each with `says`."""

    def __init__(self, says: str | None = None) -> None:
        self.says = says
        self.asked: list[str] = []
        self.heard: list[Any] = []
        self.client: Client = None  # type: ignore[assignment]

    async def names(self) -> list[str]:
        return [tool.name for tool in (await self.client.list_tools()).tools]

    async def call(self, tool: str, **input: Any) -> types.CallToolResult:
        return await self.client.call_tool(tool, input)

    async def data(self, tool: str, **input: Any) -> Any:
        """What a kitchen tool says, as JSON."""
        return json.loads(text(await self.call(tool, **input)))

    async def elicited(self, context: Any, params: Any) -> types.ElicitResult:
        self.asked.append(params.message)
        return types.ElicitResult(action="accept", content={"decision": self.says or "deny"})

    async def listen(self, message: Any) -> None:
        self.heard.append(message)


def text(result: types.CallToolResult) -> str:
    return "\n".join(one.text for one in result.content if isinstance(one, types.TextContent))
