"""The MCP servers of a session or an agent, joined to its rules, hooks, tools and home. Imported when there
are any."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from checkrein.base.config import load_config
from checkrein.base.home import checkrein_home
from checkrein.facts.claude import CALLER_TRANSPORT
from checkrein.facts.config import KEYS
from checkrein.llm.cancel import Cancel
from checkrein.model.items import Server
from checkrein.model.project import Project
from checkrein.runtime.call.bound_commands import BoundCommands
from checkrein.runtime.call.toolset import ToolSet
from checkrein.runtime.hooks.runner import HookRunner
from checkrein.runtime.mcp.connection import Catalog
from checkrein.runtime.mcp.declared_effects import DeclaredEffects
from checkrein.runtime.mcp.elicitation import Elicitation, Elicitor
from checkrein.runtime.mcp.entry import Place
from checkrein.runtime.mcp.needs import Needs
from checkrein.runtime.mcp.session_servers import Above, SessionServers
from checkrein.runtime.session.conversation import Conversation, Seat
from checkrein.runtime.session.services import Services
from checkrein.runtime.tools.desk import ToolState

if TYPE_CHECKING:
    from checkrein.runtime.mcp.oauth.authenticator import Authenticator


def join_servers(
    services: Services,
    seat: Seat,
    commands: BoundCommands,
    hooks: HookRunner,
    desk: ToolState,
    parent: Conversation | None,
) -> Services:
    """The services with the servers of the conversation. Those of a child are its own: neither its parent nor
    its siblings have them."""
    if parent is None:
        services.servers = _joined(services, services.tools, seat, commands, hooks, desk, None)
        return services
    from checkrein.runtime.call.own_tools import OwnTools
    from checkrein.runtime.mcp.resource_tools import READ

    own, above = seat.own_servers, parent
    tools = OwnTools(services.tools, (one.name for one in own.items), own.keeps)
    before = Above(services.servers, lambda: above.host.tools.get(READ) is not None)
    return services.with_servers(tools, _joined(services, tools, seat, commands, hooks, desk, before))


def _joined(
    services: Services,
    tools: ToolSet,
    seat: Seat,
    commands: BoundCommands,
    hooks: HookRunner,
    desk: ToolState,
    above: Above | None,
) -> SessionServers:
    project = seat.view.project
    home = checkrein_home(services.env)
    config = load_config(KEYS, Path(project.place.root), home, services.env)
    needs = Needs(
        open=commands.open,
        runs=commands.run,
        auth=lambda entry: _authenticator(home, services.env)(entry),
        roots=lambda: desk.roots,
        exchange=lambda: seat.control.exchange,
        relay=lambda: seat.control.relay,
        elicit=lambda server, asked, cancel: _elicited(elicitor, server, asked, cancel),
    )
    joined = SessionServers(
        seat.own_servers,
        server_place(project, services.child_env),
        needs,
        tools,
        DeclaredEffects.of(config),
        lambda server, catalog: _changes(project, home, server, catalog),
        above,
    )
    elicitor = Elicitor(hooks, lambda: seat.control.elicitations, joined.say)
    return joined


def _authenticator(home: Path, env: Mapping[str, str]) -> Authenticator:
    from checkrein.runtime.mcp.oauth.authenticator import Authenticator

    return Authenticator(home, env)


def _changes(project: Project, home: Path, server: Server, catalog: Catalog) -> frozenset[str]:
    if server.transport == CALLER_TRANSPORT:
        return frozenset()  # the program that runs the session wrote these tools
    from checkrein.runtime.mcp.pins import Pins

    return Pins(project.place, home).changes(server, catalog)


def server_place(project: Project, env: Mapping[str, str]) -> Place:
    def variables(name: str) -> dict[str, str]:
        from checkrein.runtime.plugins.plugin_options import DATA, enabled_plugins, secret_options
        from checkrein.runtime.plugins.plugin_options import plugin_variables as values_of

        plugin = next((one for one in enabled_plugins(project) if one.name == name), None)
        if plugin is None:
            return {}
        values = values_of(plugin, project, secrets=secret_options(plugin, env))
        with suppress(OSError):
            os.makedirs(values[DATA], mode=0o700, exist_ok=True)
        return values

    return Place(root=project.place.root, env=env, plugin=variables)


def _elicited(elicitor: Elicitor, server: str, asked: Mapping[str, Any], cancel: Cancel) -> dict[str, Any]:
    """A server's question and its answer, both as the wire has them."""
    schema, url, key = asked.get("requestedSchema"), asked.get("url"), asked.get("elicitationId")
    question = Elicitation(
        server=server,
        message=str(asked.get("message", "")),
        mode="url" if asked.get("mode") == "url" else "form",
        schema=schema if isinstance(schema, dict) else {},
        url=url if isinstance(url, str) else None,
        id=key if isinstance(key, str) else None,
    )
    answer = elicitor.answer(question, cancel)
    said: dict[str, Any] = {"action": answer.action}
    if answer.action == "accept" and question.mode == "form":
        said["content"] = answer.content or {}
    return said
