"""`checkrein mcp login`: sign in to a server with an address."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from checkrein.cli.mcp_target import AGENT_ARG, NAME_ARG, TIMEOUT_ARG
from checkrein.cli.registry import Command, Outcome
from checkrein.cli.target import PROJECT_ARG


class Payload(Struct, frozen=True):
    name: str
    url: str


COMMAND = Command(
    name="mcp login",
    summary="Sign in to an MCP server, in the browser.",
    details="$BROWSER opens the page. Without a browser the address is printed, and on a terminal the "
    "address that the browser ends at can be pasted. The tokens stay in the Checkrein home.",
    args=(
        NAME_ARG,
        PROJECT_ARG,
        AGENT_ARG,
        replace(TIMEOUT_ARG, default=300.0, help="How long to wait for you in the browser."),
    ),
    payload=Payload,
    errors=("project_not_found", "agent_not_found", "server_not_found", "server_not_used", "sign_in_failed"),
    exits=((0, "signed in"), (1, "not signed in, or an error"), (2, "wrong usage")),
    examples=(
        ("checkrein mcp login tracker", "sign in, or sign in again"),
        ("checkrein mcp login tracker --agent reviewer", "to the server of an agent"),
    ),
)


def run(name: str, project: str, agent: str | None, timeout: float) -> Outcome:
    import os

    from checkrein.base.errors import AuthError, UsageError
    from checkrein.base.secrets import redact_text
    from checkrein.cli import out
    from checkrein.cli.mcp_target import roll
    from checkrein.runtime.mcp.connection import ServerFailure
    from checkrein.runtime.mcp.signin import sign_in

    found = roll(project, agent)
    server = found.used(name).server
    if server.url is None or server.transport not in ("http", "sse"):
        raise UsageError(f"The server {name} is a program; only servers with an address have a sign-in.")
    try:
        sign_in(found.view, os.environ, agent).login(
            server, tell=lambda text: out.say(text, err=True), timeout=timeout
        )
    except ServerFailure as failure:
        reach = f"Check its address, and that it runs: `checkrein mcp test {name}` connects to it."
        raise AuthError(
            f"Not signed in to {name}: {failure.message}",
            kind="sign_in_failed",
            hint=reach if failure.kind == "gone" else None,
            origin=server.origin,
        ) from failure
    return Outcome(data=Payload(name, redact_text(server.url)), text=lambda: f"Signed in to {name}.")
