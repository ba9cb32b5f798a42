"""`checkrein mcp remove`: take a server out of its file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from checkrein.base.origin import Origin, Scope
from checkrein.cli.mcp_target import NAME_ARG, scope_arg
from checkrein.cli.registry import Command, Outcome
from checkrein.cli.target import PROJECT_ARG

if TYPE_CHECKING:
    from checkrein.cli.mcp_target import Roll
    from checkrein.model.items import Server
    from checkrein.runtime.mcp.scopes import WrittenScope


class Payload(Struct, frozen=True):
    """`origin` is where the entry was."""

    name: str
    scope: Scope
    origin: Origin
    signed_out: bool = False


COMMAND = Command(
    name="mcp remove",
    summary="Remove an MCP server from its file, and sign out of it.",
    args=(NAME_ARG, PROJECT_ARG, scope_arg(None)),
    payload=Payload,
    errors=(
        "project_not_found",
        "server_not_found",
        "config_broken",
        "config_unwritable",
        "link_leaves_project",
    ),
    exits=((0, "removed"), (1, "an error"), (2, "wrong usage")),
    examples=(
        ("checkrein mcp remove tracker", "from the one file that has it"),
        ("checkrein mcp remove tracker --scope project", "from .mcp.json"),
    ),
)


def run(name: str, project: str, scope: WrittenScope | None) -> Outcome:
    from checkrein.cli.mcp_target import roll
    from checkrein.runtime.mcp import scopes

    found = roll(project)
    chosen = scope or _only(found, name)
    place = found.project.place
    held = scopes.held(place, chosen)
    listed = found.at(held.places[name]) if name in held.places else None
    origin = scopes.remove(place, chosen, name)
    signed_out = listed is not None and _signed_out(found, listed.server)
    payload = Payload(name, chosen, origin, signed_out)

    def text() -> str:
        from checkrein.cli import mcp_text

        return mcp_text.removed(payload)

    return Outcome(data=payload, text=text)


def _only(found: Roll, name: str) -> WrittenScope:
    """The one scope whose file has the server."""
    from checkrein.base.errors import PolicyError, UsageError
    from checkrein.runtime.mcp.scopes import WRITTEN_SCOPES, held

    place = found.project.place
    having = [scope for scope in WRITTEN_SCOPES if name in held(place, scope).entries]
    if len(having) == 1:
        return having[0]
    if having:
        raise UsageError(f"Several files have a server {name}: say --scope {' or --scope '.join(having)}.")
    server = found.named(name).server
    raise PolicyError(
        f"The server {name} comes from {server.origin}, which this command does not write.",
        kind="server_not_found",
        hint="Edit the file, or switch the plugin off.",
        origin=server.origin,
    )


def _signed_out(found: Roll, server: Server) -> bool:
    if not server.url or server.transport not in ("http", "sse"):
        return False
    import os

    from checkrein.runtime.mcp.signin import sign_in

    return sign_in(found.view, os.environ).logout(server)
