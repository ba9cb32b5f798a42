"""A tool of an MCP server as the session calls it.

What the server says about its tool (title, annotations) is a claim. It is shown, and grants nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from msgspec import Struct

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.harmless import one_line
from checkrein.base.origin import Origin
from checkrein.base.wellformed import scrubbed
from checkrein.facts.mcp import ALWAYS_LOAD, REQUIRES_USER, TEXT_BYTES
from checkrein.policy.remote import Remote
from checkrein.policy.tools import Meaning
from checkrein.runtime.context.reminders import quoted
from checkrein.runtime.mcp.connection import Connection, RemoteTool, ServerFailure
from checkrein.runtime.mcp.declared_effects import DeclaredEffects
from checkrein.runtime.mcp.results import Outlet, output
from checkrein.runtime.mcp.schemas import acceptable
from checkrein.runtime.mcp.tool_names import ToolNames
from checkrein.runtime.tools.port import ToolContext, ToolDeclaration, ToolFailure, ToolOutput

_FAILURE_CHARS = 4_000
_CLAIMS = {
    "readOnlyHint": ("only reads", "changes things"),
    "destructiveHint": ("may destroy", "destroys nothing"),
    "idempotentHint": ("may be repeated", "must not be repeated"),
    "openWorldHint": ("reaches other systems", "stays within its own"),
}


class ServerTool:
    """`name` is the model's name for it, `tool` what the server says about it."""

    def __init__(
        self,
        connection: Connection,
        tool: RemoteTool,
        name: str,
        effects: DeclaredEffects,
        *,
        eager: bool,
        asks: bool = False,
        cwd: str | None = None,
    ) -> None:
        """`asks`: nobody has accepted this definition of the tool. `cwd` is the server's directory."""
        self.connection = connection
        self.tool = tool
        self.remote = Remote(connection.name, tool.name)
        self.name = name
        self.eager = eager or tool.meta.get(ALWAYS_LOAD) is True
        self.read_only = effects.only_reads(self.remote)
        self.aliases = (self.remote.written,) if self.remote.written != name else ()
        needs_user = asks or tool.meta.get(REQUIRES_USER) is True
        self.meaning: Meaning = effects.meaning(name, self.remote, interactive=needs_user, cwd=cwd)

    @cached_property
    def declaration(self) -> ToolDeclaration:
        accepted = acceptable(self.tool.schema)
        said = cut(self.tool.description.strip() or self.tool.title or "")
        about = (
            said or f"The tool {one_line(self.tool.name)} of the MCP server {one_line(self.remote.server)}."
        )
        return ToolDeclaration(
            name=self.name,
            schema=accepted.schema,
            description="\n".join((about, *map(cut, accepted.notes))),
            read_only=self.read_only,
            eager=self.eager,
            claims=claims_of(self.tool),
        )

    def run(self, input: dict[str, Any], context: ToolContext) -> ToolOutput:
        if self._has_changed:
            raise ToolFailure(
                f"The MCP server {one_line(self.remote.server)} changed this tool while the call was judged, "
                "so it did not run. Look at the tool again before you call it."
            )
        try:
            result = self.connection.call_tool(self.tool.name, input, context.cancel, call=context.call_id)
        except ServerFailure as error:
            raise ToolFailure(failure_text(self.remote.server, error)) from None
        source = f"{one_line(self.tool.name)} of the MCP server {one_line(self.remote.server)}"
        return output(result, Outlet.of(context, source, self.tool.meta))

    @property
    def _has_changed(self) -> bool:
        """What was judged is what runs: the server declares the tool otherwise by now, or no more."""
        if self.connection.status.state != "connected":
            return False
        listed = self.connection.catalog.tools
        return next((one for one in listed if one.name == self.tool.name), None) != self.tool


class ServerTools(Struct, frozen=True):
    """The tools of one server, and a Diagnostic for each that can't be used."""

    tools: tuple[ServerTool, ...] = ()
    problems: tuple[Diagnostic, ...] = ()


def tools_of(
    connection: Connection,
    names: ToolNames,
    effects: DeclaredEffects,
    origin: Origin,
    *,
    eager: bool = False,
    asks: frozenset[str] = frozenset(),
    cwd: str | None = None,
) -> ServerTools:
    """The tools that a server lists now. `origin` is its entry; `eager` when that says `alwaysLoad`. Calls of
    the tools in `asks` need approval in every mode. `cwd` is the server's directory."""
    listed = connection.catalog.tools
    named = names.take(connection.name, (tool.name for tool in listed), origin)
    left = dict(named.names)
    found = [
        ServerTool(
            connection, tool, left.pop(tool.name), effects, eager=eager, asks=tool.name in asks, cwd=cwd
        )
        for tool in listed
        if tool.name in left
    ]
    return ServerTools(tuple(found), named.problems)


def instructions_of(connection: Connection) -> str:
    """What the server says about its use, as much of it as the model gets."""
    return cut(connection.catalog.instructions.strip())


def cut(text: str) -> str:
    """The beginning of a server's text, well-formed."""
    text = quoted(scrubbed(text[: TEXT_BYTES + 1]).replace("\0", "\ufffd"))
    data = text.encode()
    if len(data) <= TEXT_BYTES:
        return text
    return data[: TEXT_BYTES - len("…".encode())].decode("utf-8", "ignore") + "…"


def failure_text(server: str, error: ServerFailure) -> str:
    """A failed request for the model: why, and what can be done."""
    name = one_line(server)
    said = quoted(error.message[:_FAILURE_CHARS])
    match error.kind:
        case "timeout":
            return f"The MCP server {name} did not answer in time: {said}"
        case "cancelled":
            return f"The call was cancelled. What the MCP server {name} did until then stays."
        case "needs_auth":
            hint = "" if "checkrein mcp login" in said else f" The user can run `checkrein mcp login {name}`."
            return f"The MCP server {name} needs a login: {said}{hint}"
        case "gone":
            return f"The MCP server {name} is not connected: {said}"
    return f"The MCP server {name} failed: {said}"


def claims_of(tool: RemoteTool) -> tuple[str, ...]:
    """What the server says about the tool, for a person who decides about it."""
    return tuple(_claims(tool))


def _claims(tool: RemoteTool) -> Iterator[str]:
    if tool.title:
        yield f"the server calls it {one_line(tool.title[:120])!r}"
    for hint, (yes, no) in _CLAIMS.items():
        value = tool.annotations.get(hint)
        if isinstance(value, bool):
            yield f"the server says that it {yes if value else no}"
