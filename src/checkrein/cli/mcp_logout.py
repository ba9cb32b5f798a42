"""`checkrein mcp logout`: forget the tokens of a server."""

from __future__ import annotations

from msgspec import Struct

from checkrein.cli.mcp_target import AGENT_ARG, NAME_ARG
from checkrein.cli.registry import Command, Outcome
from checkrein.cli.target import PROJECT_ARG


class Payload(Struct, frozen=True):
    """`signed_out` is False when there was nothing to forget."""

    name: str
    signed_out: bool


COMMAND = Command(
    name="mcp logout",
    summary="Sign out of an MCP server.",
    details="Its tokens are forgotten, and revoked where the server offers that.",
    args=(NAME_ARG, PROJECT_ARG, AGENT_ARG),
    payload=Payload,
    errors=("project_not_found", "agent_not_found", "server_not_found"),
    exits=((0, "signed out"), (1, "an error"), (2, "wrong usage")),
    examples=(("checkrein mcp logout tracker", "sign out"),),
)


def run(name: str, project: str, agent: str | None) -> Outcome:
    import os

    from checkrein.cli.mcp_target import roll
    from checkrein.runtime.mcp.signin import sign_in

    found = roll(project, agent)
    server = found.named(name).server
    done = bool(server.url) and sign_in(found.view, os.environ, agent).logout(server)
    told = f"Signed out of {name}." if done else f"You were not signed in to {name}."
    return Outcome(data=Payload(name, done), text=lambda: told)
