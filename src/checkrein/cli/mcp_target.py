"""What the commands on servers share: arguments, the servers of a project, one of them by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from checkrein.cli.registry import Arg
from checkrein.cli.target import require

if TYPE_CHECKING:
    from checkrein.base.diagnostic import Diagnostic
    from checkrein.base.origin import Origin
    from checkrein.model.view import View
    from checkrein.runtime.mcp.roster import Listed

NAME_ARG = Arg(name="name", required=True, complete="servers", help="The server's name.")
AGENT_ARG = Arg(
    name="agent",
    flags=("--agent",),
    metavar="NAME",
    help="The server is in this agent's own `mcpServers`.",
)
SCOPES = ("local", "project", "user")
SCOPE_HELP = "local: only you, in this project; project: .mcp.json, for everyone; user: you, everywhere."
SECRET_ARG = Arg(
    name="client_secret",
    flags=("--client-secret",),
    type="bool",
    help="Also keep the client's secret: MCP_CLIENT_SECRET, else asked for on the terminal.",
)
TIMEOUT_ARG = Arg(
    name="timeout",
    flags=("--timeout",),
    type="float",
    default=30.0,
    metavar="SECONDS",
    help="How long to wait for the servers.",
)


def scope_arg(default: str | None) -> Arg:
    return Arg(
        name="scope", flags=("--scope", "-s"), type="choice", choices=SCOPES, default=default, help=SCOPE_HELP
    )


class Roll(Struct, frozen=True):
    """The servers of a project as this user's sessions have them. `project` is the whole project, `trust`
    what of it counts."""

    project: Any
    trust: Any
    listed: tuple[Listed, ...]

    @property
    def view(self) -> View:
        from checkrein.model.view import View

        return View(self.trust.project)

    @property
    def unread(self) -> tuple[Diagnostic, ...]:
        """What is wrong with the files that name servers."""
        import os

        from checkrein.dialects.claude.place import state_file
        from checkrein.facts.claude import MANAGED_MCP_FILE, MCP_FILE

        names = (MCP_FILE, MANAGED_MCP_FILE, os.path.basename(state_file(self.project.place)))
        told = (one for one in self.project.diagnostics if one.severity == "error")
        return tuple(one for one in told if os.path.basename(one.origin.file) in names)

    def named(self, name: str) -> Listed:
        """The server of this name: the one in use, else the first of those that are not."""
        from checkrein.base.errors import NotFoundError
        from checkrein.base.nearest import did_you_mean

        found = [one for one in self.listed if one.server.name == name]
        if not found:
            known = [one.server.name for one in self.listed]
            unread = [f"{one.origin}: {one.message}. Repair the file." for one in self.unread]
            raise NotFoundError(
                f"There is no server {name!r} in this project.{did_you_mean(name, known)}",
                kind="server_not_found",
                hint="\n".join((*unread, "`checkrein mcp list` shows all servers.")),
            )
        return next((one for one in found if one.part == "used"), found[0])

    def used(self, name: str) -> Listed:
        """The same; raises PolicyError when no session would use it."""
        from checkrein.base.errors import PolicyError

        found = self.named(name)
        if found.part != "used":
            raise PolicyError(
                f"The server {name} is not used: {found.reason}",
                kind="server_not_used",
                origin=found.server.origin,
            )
        return found

    def at(self, origin: Origin) -> Listed | None:
        """The server with this place."""
        found = (one for one in self.listed if one.server.origin == origin)
        return next(found, None)


def roll(project: str, agent: str | None = None) -> Roll:
    """The servers of the project's sessions, or those that an agent has for itself."""
    from checkrein.passes.load import load
    from checkrein.runtime.mcp.roster import roster
    from checkrein.runtime.trust import standing

    require(project)
    loaded = load(project)
    trust = standing(loaded)
    if agent is not None:
        import os

        from checkrein.runtime.mcp.agent_roster import as_agent

        loaded, trust = as_agent(loaded, trust, os.environ, agent)
    return Roll(loaded, trust, roster(loaded, trust))


def secret() -> str:
    """The secret of a registered client, from the environment or the terminal."""
    import os
    import sys

    from checkrein.base.errors import UsageError
    from checkrein.cli import out
    from checkrein.facts.mcp import CLIENT_SECRET

    given = os.environ.get(CLIENT_SECRET, "")
    if not given and sys.stdin.isatty() and sys.stderr.isatty():
        given = str(out.prompt("Client secret", hide_input=True))
    if not given:
        raise UsageError(f"Set {CLIENT_SECRET} to the client's secret, or use a terminal.")
    return given
