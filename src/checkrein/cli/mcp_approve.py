"""`checkrein mcp approve`: accept the tools of a server as they are now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from checkrein.cli.mcp_target import TIMEOUT_ARG
from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.target import PROJECT_ARG
from checkrein.runtime.mcp.server_row import Changes

if TYPE_CHECKING:
    from checkrein.cli.mcp_target import Roll
    from checkrein.model.project import Place
    from checkrein.runtime.mcp.probe import Probed


class Shown(Struct, frozen=True, omit_defaults=True):
    """A tool that is new or different, in the server's own words."""

    name: str
    change: str
    description: str = ""


class Server(Struct, frozen=True, omit_defaults=True):
    """`changes` is None before the first list. `tools` are those to look at. `problem`: it can't be approved
    now."""

    name: str
    changes: Changes | None = None
    tools: tuple[Shown, ...] = ()
    problem: str | None = None


class Payload(Struct, frozen=True, omit_defaults=True):
    approved: bool
    servers: tuple[Server, ...] = ()
    lock_written: bool = False


COMMAND = Command(
    name="mcp approve",
    summary="Look at changed tools of MCP servers, and accept them.",
    details=(
        "The first list of a server's tools is remembered. A tool that is new or different later asks before "
        "each call, until you accept it here. `checkrein.lock` then says so to your team; it approves "
        "nothing for them. Servers of a project that is not trusted need `checkrein trust` first."
    ),
    args=(
        Arg(name="name", default=None, help="The server; without it, all that a session uses."),
        PROJECT_ARG,
        Arg(
            name="agent",
            flags=("--agent",),
            metavar="NAME",
            help="The servers in this agent's own `mcpServers`. The lock stays as it is.",
        ),
        Arg(name="yes", flags=("--yes", "-y"), type="bool", help="Accept without a question."),
        Arg(name="no_lock", flags=("--no-lock",), type="bool", help="Leave checkrein.lock alone."),
        TIMEOUT_ARG,
    ),
    payload=Payload,
    errors=(
        "project_not_found",
        "agent_not_found",
        "server_not_found",
        "server_not_used",
        "pins_unwritable",
        "lock_broken",
        "lock_unwritable",
    ),
    exits=((0, "accepted, or nothing to accept"), (1, "not accepted, or an error"), (2, "wrong usage")),
    examples=(
        ("checkrein mcp approve tracker", "look at what changed, and answer"),
        ("checkrein mcp approve --yes", "accept all tools as they are"),
    ),
)


def run(
    name: str | None, project: str, agent: str | None, yes: bool, no_lock: bool, timeout: float
) -> Outcome:
    import os

    from checkrein.cli import mcp_text
    from checkrein.cli.mcp_target import roll
    from checkrein.runtime.mcp.pins import Pins
    from checkrein.runtime.mcp.probe import probe

    found = roll(project, agent)
    names = None if name is None else (found.used(name).server.name,)
    seen = probe(found.view, os.environ, names=names, timeout=timeout)
    place = found.project.place
    servers = tuple(_server(one, found, place) for one in seen)
    waiting = [one for one in servers if one.tools]
    broken = any(one.problem for one in servers)
    if waiting and not yes and not _confirmed(servers):
        payload = Payload(False, servers)
        return Outcome(data=payload, text=lambda: mcp_text.unapproved(payload), status=1)
    connected = [one for one in seen if one.status.state == "connected"]
    for one in connected:
        Pins(place).approve(found.used(one.status.name).server, one.catalog)
    lock_written = not no_lock and agent is None and _locked(found, connected)
    payload = Payload(not broken, servers, lock_written)
    return Outcome(data=payload, text=lambda: mcp_text.approved(payload), status=1 if broken else 0)


def _locked(found: Roll, seen: list[Probed]) -> bool:
    from checkrein.cli.mcp_list import locked

    return locked(found, seen)


def _server(probed: Probed, found: Roll, place: Place) -> Server:
    from checkrein.runtime.mcp.pins import Pins

    name = probed.status.name
    if probed.status.state != "connected":
        return Server(name, problem=probed.status.error or f"It is {probed.status.state}.")
    changes = Pins(place).compared(found.used(name).server, probed.catalog)
    doubted = frozenset[str]() if changes is None else changes.unknown
    changed = () if changes is None else changes.changed
    shown = tuple(
        Shown(tool.name, "changed" if tool.name in changed else "added", tool.description)
        for tool in probed.catalog.tools
        if tool.name in doubted
    )
    return Server(name, changes, shown)


def _confirmed(servers: tuple[Server, ...]) -> bool:
    """Show and ask, on the terminal; without one the answer is no."""
    import sys

    from checkrein.cli import mcp_text, out

    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    out.say(mcp_text.to_approve(servers), err=True)
    return out.confirm("Accept these tools as they are?")
