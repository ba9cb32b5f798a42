"""Tools of the servers behind the gateway: judged like any call, their results passed on as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from checkrein.base.harmless import one_line
from checkrein.policy.tools import Meaning, builtin_tools
from checkrein.runtime.mcp.connection import CallResult, Connection, Progress, ServerFailure
from checkrein.runtime.mcp.resource_tools import READ
from checkrein.runtime.mcp.server_tool import ServerTool, failure_text
from checkrein.runtime.tools.port import ToolContext, ToolDeclaration, ToolFailure, ToolOutput

_WHOLE = 64 << 20
"""Characters that a result may have: what the wire carries, the client gets."""
_ANYTHING: dict[str, Any] = {"type": "object"}
"""The server checks its input itself, and says so in its own words."""

Keep = Callable[[str, dict[str, Any]], object]
"""(id of the call, result as the wire has it)."""
Hears = Callable[[str], Progress | None]
"""Who hears of the progress of a call."""


class PassedTool:
    """A server's tool with its own meaning and name. `keep` gets the result without secrets."""

    def __init__(self, inner: ServerTool, keep: Keep, hears: Hears) -> None:
        self.inner = inner
        self.name = inner.name
        self.eager = True
        self.read_only = inner.read_only
        self.aliases = inner.aliases
        self.meaning: Meaning = inner.meaning
        self._keep = keep
        self._hears = hears

    @property
    def declaration(self) -> ToolDeclaration:
        return replace(self.inner.declaration, schema=_ANYTHING)

    def run(self, input: dict[str, Any], context: ToolContext) -> ToolOutput:
        server = self.inner.remote.server
        hears = self._hears(context.call_id)
        try:
            result = self.inner.connection.call_tool(self.inner.tool.name, input, context.cancel, hears)
        except ServerFailure as error:
            raise ToolFailure(failure_text(server, error)) from None
        wire = context.cover.value(_wire(result))
        self._keep(context.call_id, wire)
        said = text_of(wire["content"])
        structured = wire.get("structuredContent", said)
        if result.is_error:
            said = said or "The tool failed and did not say why."
        return ToolOutput(content=said, structured=structured, is_error=result.is_error, limit=_WHOLE)


class PassedResource:
    """Reads a resource of any server behind the gateway."""

    name = READ
    eager = True
    read_only = True
    aliases = ()
    meaning = builtin_tools().get(READ)
    declaration = ToolDeclaration(name=READ, schema=_ANYTHING, description="Read a resource.", read_only=True)

    def __init__(self, find: Callable[[str], Connection | None], keep: Keep) -> None:
        self._find = find
        self._keep = keep

    def run(self, input: dict[str, Any], context: ToolContext) -> ToolOutput:
        server, uri = input.get("server"), input.get("uri")
        connection = self._find(server) if isinstance(server, str) else None
        if connection is None or not isinstance(uri, str):
            raise ToolFailure(f"No server behind the gateway has {one_line(str(uri))}.")
        wire = context.cover.value({"contents": list(connection.read_resource(uri, context.cancel))})
        self._keep(context.call_id, wire)
        return ToolOutput(content=text_of(wire["contents"]), structured=wire, limit=_WHOLE)


def text_of(blocks: list[Any]) -> str:
    """The texts among content blocks; for the others a word each, for hooks and the transcript."""
    return "\n".join(
        one["text"] if isinstance(one.get("text"), str) else f"[{one_line(str(one.get('type', 'content')))}]"
        for one in blocks
        if isinstance(one, dict)
    )


def _wire(result: CallResult) -> dict[str, Any]:
    wire: dict[str, Any] = {"content": list(result.content), "isError": result.is_error}
    if result.structured is not None:
        wire["structuredContent"] = result.structured
    if result.meta:
        wire["_meta"] = result.meta
    return wire
