"""The tools that list and read the resources of servers, and `@server:uri` in a prompt."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from checkrein.base.harmless import one_line
from checkrein.llm.port import Cancel, Text
from checkrein.policy.remote import normal
from checkrein.policy.tools import builtin_tools
from checkrein.runtime.call.host import ToolHost
from checkrein.runtime.mcp.connection import Connection, RemoteResource, ServerFailure
from checkrein.runtime.mcp.results import Outlet, content, joined, max_tokens, output_of
from checkrein.runtime.mcp.server_tool import cut, failure_text
from checkrein.runtime.secrets.report import findings
from checkrein.runtime.session.channel import ignored
from checkrein.runtime.session.events import Event, Notice
from checkrein.runtime.skills.mentions import mentioned
from checkrein.runtime.tools.port import AnyTool, ToolContext, ToolDeclaration, ToolFailure, ToolOutput

LIST = "ListMcpResourcesTool"
READ = "ReadMcpResourceTool"
_MOST_MENTIONS = 20
_SERVER = {"type": "string", "description": "the server's name"}

Connections = Callable[[], Iterable[Connection]]
"""The servers of the session at the time of a call."""


def resource_tools(connections: Connections) -> tuple[AnyTool, ...]:
    """Both tools when a connected server has resources, else none."""
    if not any(one.catalog.resources for one in _connected(connections)):
        return ()
    return ListResources(connections), ReadResource(connections)


class ListResources:
    name = LIST
    eager = False
    read_only = True
    aliases = ()
    meaning = builtin_tools().get(LIST)

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self.declaration = ToolDeclaration(
            name=LIST,
            schema={"type": "object", "properties": {"server": _SERVER}},
            description="List the resources of the MCP servers, or of one of them.",
            read_only=True,
        )

    def run(self, input: dict[str, Any], context: ToolContext) -> ToolOutput:
        servers = _connected(self._connections)
        if input.get("server"):
            servers = [_need(servers, input["server"])]
        rows = [_row(server, resource) for server in servers for resource in server.catalog.resources]
        return output_of(rows, Outlet.of(context, "the list of resources"))


class ReadResource:
    name = READ
    eager = False
    read_only = True
    aliases = ()
    meaning = builtin_tools().get(READ)

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        properties = {"server": _SERVER, "uri": {"type": "string", "description": "the resource's address"}}
        self.declaration = ToolDeclaration(
            name=READ,
            schema={"type": "object", "properties": properties, "required": ["server", "uri"]},
            description="Read a resource of an MCP server.",
            read_only=True,
        )

    def run(self, input: dict[str, Any], context: ToolContext) -> ToolOutput:
        server = _need(_connected(self._connections), input["server"])
        try:
            found = server.read_resource(input["uri"], context.cancel)
        except ServerFailure as error:
            raise ToolFailure(failure_text(server.name, error)) from None
        outlet = Outlet.of(context, f"the MCP server {one_line(server.name)}")
        parts = content(_blocks(found), outlet)
        texts = [part.text for part in parts if isinstance(part, Text)]
        shown = joined(parts) or "(the resource is empty)"
        return ToolOutput(content=shown, structured={"contents": texts}, limit=outlet.chars)


def resource_mentions(
    text: str,
    connections: Connections,
    host: ToolHost,
    cancel: Cancel,
    emit: Callable[[Event], object] = ignored,
) -> list[str]:
    """One text for each resource that `text` names as `@server:uri`, if reading it needs no approval. The
    user learns which were not attached, and why."""
    servers = _connected(connections) if "@" in text else []
    named = list(dict.fromkeys(found for word in mentioned(text) if (found := _meant(word, servers))))
    attached: list[str] = []
    for place, uri in named[:_MOST_MENTIONS]:
        server = servers[place]
        shown = f"@{one_line(server.name)}:{one_line(uri)}"
        decision = host.gate.decide(READ, {"server": server.name, "uri": uri}, host.cwd)
        if decision.verdict != "allow":
            why = f"{decision.rule} ({decision.origin})" if decision.rule else decision.reason
            emit(Notice("warning", f"{shown} was not attached: reading it is not allowed. {why}"))
            attached.append(f"{shown} was not attached: reading it is not allowed.")
            continue
        attached.append(f"{shown}, which is named above:\n\n{_attached(server, uri, host, cancel, emit)}")
    return attached


def _attached(
    server: Connection, uri: str, host: ToolHost, cancel: Cancel, emit: Callable[[Event], object]
) -> str:
    cover = host.bench.cover(READ)
    outlet = Outlet(
        cover=cover,
        results_dir=host.bench.results,
        source=f"the MCP server {one_line(server.name)}",
        emit=emit,
        chars=max_tokens(host.bench.env) * 4,
        images=False,
    )
    try:
        parts = content(_blocks(server.read_resource(uri, cancel)), outlet)
    except ServerFailure as error:
        said = cover.text(failure_text(server.name, error))
        emit(Notice("warning", said))
        return said
    for found in findings(cover, READ, host.cwd):
        emit(found)
    return "\n".join(part.text for part in parts if isinstance(part, Text)) or "(the resource is empty)"


def _meant(word: str, servers: list[Connection]) -> tuple[int, str] | None:
    """The place of the server, and the address. The longest name counts: it may hold a `:` itself."""
    for place, one in sorted(enumerate(servers), key=lambda item: -len(item[1].name)):
        for name in (one.name, normal(one.name)):
            if word.startswith(f"{name}:") and len(word) > len(name) + 1:
                return place, word[len(name) + 1 :]
    return None


def _connected(connections: Connections) -> list[Connection]:
    return [one for one in connections() if one.status.state == "connected"]


def _need(servers: list[Connection], name: str) -> Connection:
    """The server of that name. The name in rules is good too, since no two servers share one."""
    found = next((one for one in servers if one.name == name), None)
    found = found or next((one for one in servers if normal(one.name) == normal(name)), None)
    if found is None:
        known = ", ".join(one_line(one.name) for one in servers) or "none"
        raise ToolFailure(f"No connected MCP server is called {one_line(name)!r}. Connected: {known}.")
    return found


def _row(server: Connection, resource: RemoteResource) -> dict[str, Any]:
    return {
        "uri": resource.uri,
        "name": resource.name,
        "server": server.name,
        **({"mimeType": resource.mime_type} if resource.mime_type else {}),
        **({"description": cut(resource.description)} if resource.description else {}),
        **({"template": True} if resource.template else {}),
    }


def _blocks(contents: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"type": "resource", "resource": one} for one in contents]
