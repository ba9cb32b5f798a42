"""The MCP servers of a session, for the program that runs it: how they are, and changes to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from checkrein.base.errors import NotFoundError, SessionError
from checkrein.base.origin import COMMAND_LINE, Origin, Scope
from checkrein.model.items import Server
from checkrein.runtime.mcp.connection import Connection

if TYPE_CHECKING:
    from checkrein.runtime.mcp.session_servers import SessionServers
    from checkrein.runtime.session.conversation import Conversation

_SCOPES: dict[Scope, str] = {"cli": "dynamic", "managed": "enterprise"}
_HINTS = {"readOnlyHint": "readOnly", "destructiveHint": "destructive", "openWorldHint": "openWorld"}


class ServerControl:
    """Any thread may use it, also between and before prompts. Errors are for the program: their message says
    what went wrong."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._added: frozenset[str] = frozenset()

    def greet(self) -> None:
        """Begin the handshake with the servers in the program's own process."""
        servers = self._servers
        if servers is not None:
            servers.servers.greet()

    def status(self) -> list[dict[str, Any]]:
        """One row for each server, as the SDKs read them."""
        servers = self._servers
        return [] if servers is None else [_row(one, servers.item(one.name)) for one in servers.connections()]

    def reconnect(self, name: str) -> None:
        """Connect a server again, and wait for it. Raises when nobody knows it, it is off, or it fails."""
        servers = self._having(name)
        status = servers.servers.reconnect(name)
        if status is None or status.state != "connected":
            why = "" if status is None else status.error or status.state
            raise SessionError(f"The MCP server {name} is not connected: {why}", kind="server_not_connected")

    def toggle(self, name: str, enabled: bool) -> None:
        """Switch a server on, and wait for it, or off. Its tools come and go with it."""
        servers = self._having(name)
        servers.servers.toggle(name, enabled, "The program switched it off.")
        if enabled:
            servers.wait(name, self._conversation.control.cancel)

    def set_servers(self, configs: Mapping[str, Any]) -> dict[str, Any]:
        """Have these servers, and no longer those of an earlier call. The servers of files and of the command
        line stay, unless one of these takes the place of one."""
        wanted, errors = self._read(configs)
        removed = sorted(self._added - set(configs))
        servers = self._servers
        if wanted and servers is None:
            servers = self._joined()
        for name in removed:
            if servers is not None:
                servers.remove(name)
        for server in wanted:
            assert servers is not None
            if server.name not in self._added or servers.item(server.name) != server:
                servers.add(server)
        for server in wanted:
            assert servers is not None
            servers.wait(server.name, self._conversation.control.cancel)
            status = servers.status(server.name)
            if status is not None and status.state == "failed":
                errors[server.name] = status.error or "It is not connected."
        names = frozenset(server.name for server in wanted)
        added, self._added = sorted(names - self._added), names
        return {"added": added, "removed": removed, "errors": errors}

    @property
    def _servers(self) -> SessionServers | None:
        return self._conversation.services.servers

    def _joined(self) -> SessionServers:
        """The servers of a session that had none."""
        from checkrein.runtime.session.conversation import Seat
        from checkrein.runtime.session.joined_servers import join_servers

        own = self._conversation
        seat = Seat(view=own.view, options=own.options, control=own.control, state=own.state, meter=own.meter)
        join_servers(own.services, seat, own.host.bench.commands, own.hooks, own.desk, None)
        servers = own.own_servers = own.services.servers
        assert servers is not None
        return servers

    def _having(self, name: str) -> SessionServers:
        servers = self._servers
        if servers is None or servers.item(name) is None:
            raise NotFoundError(f"Server not found: {name}", kind="server_not_found")
        return servers

    def _read(self, configs: Mapping[str, Any]) -> tuple[list[Server], dict[str, str]]:
        from checkrein.dialects.codes import Log
        from checkrein.dialects.servers import read_entry

        refusals = self._conversation.services.server_refusals()
        wanted: list[Server] = []
        errors: dict[str, str] = {}
        for name, config in configs.items():
            log = Log()
            server = read_entry(str(name), config, Origin(COMMAND_LINE, "cli"), "$", {}, log)
            why = log[0].message if server is None and log else None
            if server is not None:
                why = f"The entry {server.problem}." if server.problem else refusals.of(server)
            if server is None or why is not None:
                errors[str(name)] = why or "The entry can't be read."
            else:
                wanted.append(server)
        return wanted, errors


def _row(connection: Connection, item: Server | None) -> dict[str, Any]:
    status, catalog = connection.status, connection.catalog
    row: dict[str, Any] = {"name": status.name, "status": status.state}
    if status.state == "connected":
        row["serverInfo"] = {"name": catalog.server_name, "version": catalog.server_version}
        row["tools"] = [_tool(connection, at) for at in range(len(catalog.tools))]
    if status.error:
        row["error"] = status.error
    if item is not None:
        row["config"] = dict(_config(item))
    row["scope"] = _SCOPES.get(status.scope, status.scope)
    return row


def _tool(connection: Connection, at: int) -> dict[str, Any]:
    tool = connection.catalog.tools[at]
    hints = {_HINTS[key]: tool.annotations[key] for key in _HINTS if key in tool.annotations}
    return {"name": tool.name, "description": tool.description, "annotations": hints}


def _config(item: Server) -> Iterator[tuple[str, Any]]:
    """The entry without what may hold secrets: its environment and its headers."""
    yield "type", item.transport
    if item.transport == "sdk":
        yield "name", item.name
    if item.command is not None:
        yield "command", item.command
        yield "args", list(item.args)
    if item.url is not None:
        yield "url", item.url
