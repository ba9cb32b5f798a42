"""The tools of a session of this project, and the commands by their source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from checkrein.base.diagnostic import Diagnostic
from checkrein.protocol.machine.inventory import Entry, commands, server, tools
from checkrein.protocol.machine.setup import NoModel, Setup, choose_model, options_of, project_of

if TYPE_CHECKING:
    from checkrein.model.project import Project
    from checkrein.runtime.session.session import Session

_SIMPLE = ("Bash", "Read", "Edit")
"""The tools of simple mode: a shell, reading, editing."""


class Named(Struct, frozen=True):
    name: str
    source_hint: str


class Pool(Struct, frozen=True, kw_only=True):
    """`include_mcp`: the filter keeps servers. Only a session that connects to them knows their tools, so
    these do not count; `servers` are the ones that a session would connect to."""

    simple_mode: bool
    include_mcp: bool
    tool_count: int
    tools: tuple[Named, ...]
    servers: tuple[str, ...]


class CommandGraph(Struct, frozen=True, kw_only=True):
    """Each command once: of a plugin, else a skill, else `builtins` (Checkrein's own, the project's, the
    user's)."""

    builtins_count: int
    plugin_like_count: int
    skill_like_count: int
    total_count: int
    builtins: tuple[Named, ...]
    plugin_like: tuple[Named, ...]
    skill_like: tuple[Named, ...]


def command_graph(project: Project) -> CommandGraph:
    groups: dict[str, list[Entry]] = {"plugin": [], "skill": [], "other": []}
    for entry in commands(project):
        groups["plugin" if entry.plugin else "skill" if entry.kind == "skill" else "other"].append(entry)
    builtins, plugins, skills = (_named(groups[name]) for name in ("other", "plugin", "skill"))
    return CommandGraph(
        builtins_count=len(builtins),
        plugin_like_count=len(plugins),
        skill_like_count=len(skills),
        total_count=len(builtins) + len(plugins) + len(skills),
        builtins=builtins,
        plugin_like=plugins,
        skill_like=skills,
    )


def tool_pool(setup: Setup) -> tuple[Pool, tuple[Diagnostic, ...]]:
    """What a session would offer its model: tools that no rule removes, built in or of installed packages,
    and the Skill tool when there are skills."""
    offered, skipped = offer(setup)
    own = [entry for entry in offered if entry.kind == "tool"]
    pool = Pool(
        simple_mode=False,
        include_mcp=True,
        tool_count=len(own),
        tools=_named(own),
        servers=tuple(entry.name.removeprefix("mcp__") for entry in offered if entry.kind == "server"),
    )
    return pool, skipped


def offer(
    setup: Setup, *, simple: bool = False, mcp: bool = True
) -> tuple[list[Entry], tuple[Diagnostic, ...]]:
    """The tools of a session, then an entry for each MCP server whose tools it would add (`mcp`).

    Simple mode has three tools and no servers. A server that a deny rule removes completely is left out.
    """
    with silent_session(setup) as session:
        talk = session.conversation
        names, view, skipped = talk.host.tools.names(), talk.view, talk.services.skipped
        servers = [one for one in view.servers if talk.gate.decide(f"mcp__{one}__*", {}, "/").offered]
    known = {entry.name: entry for entry in tools(setup.project)}
    offered = [known[name] for name in names if name in known and (not simple or name in _SIMPLE)]
    if mcp and not simple:
        offered += [server(view.servers[name], view.project.place.root) for name in servers]
    return offered, skipped


def silent_session(setup: Setup, *, persist: bool = False) -> Session:
    """A session in which nobody speaks; without a model when the setup names none. With `persist` the store
    keeps the calls that it makes."""
    from checkrein.runtime.session.session import Session

    project = project_of(setup)
    model = NoModel() if setup.model is None else choose_model(setup, project)
    return Session(project, model=model, options=options_of(setup, persist=persist))


def _named(entries: list[Entry]) -> tuple[Named, ...]:
    return tuple(Named(entry.name, entry.source_hint) for entry in entries)
