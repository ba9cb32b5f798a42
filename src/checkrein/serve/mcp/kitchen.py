"""Stub."""

from checkrein.serve.mcp.visit import Visit


class Kitchen(Visit):
    async def list_tools(self):
        return []

    async def call_tool(self, request, name, input): ...
