"""`checkrein mcp add`: write a server into one of the user's or the project's files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from checkrein.base.origin import Origin, Scope
from checkrein.cli.mcp_target import NAME_ARG, SECRET_ARG, scope_arg
from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.target import PROJECT_ARG
from checkrein.facts.mcp import WRITTEN_TRANSPORTS

if TYPE_CHECKING:
    from checkrein.runtime.mcp.scopes import WrittenScope


class Payload(Struct, frozen=True, omit_defaults=True):
    """Where the entry is now. `part` and `reason` say whether a session would use it."""

    name: str
    scope: Scope
    transport: str
    origin: Origin
    part: str
    reason: str | None = None


ERRORS = (
    "project_not_found",
    "server_name_invalid",
    "server_invalid",
    "server_exists",
    "servers_managed",
    "config_broken",
    "config_unwritable",
    "link_leaves_project",
)

COMMAND = Command(
    name="mcp add",
    summary="Add an MCP server: a program, or an address.",
    details="Write `--` before a program with options of its own. An address needs no --transport when it "
    "speaks streamable HTTP. `mcp add-json` takes every key of an entry: all of `oauth`, `timeout`, "
    "`headersHelper`, `alwaysLoad`.",
    dashes="`checkrein mcp add NAME -- COMMAND ARGS...`",
    args=(
        NAME_ARG,
        Arg(name="target", required=True, metavar="COMMAND_OR_URL", help="The program, or the address."),
        Arg(name="args", multiple=True, metavar="ARGS...", help="Arguments of the program."),
        PROJECT_ARG,
        Arg(
            name="transport",
            flags=("--transport", "-t"),
            type="choice",
            choices=WRITTEN_TRANSPORTS,
            help="How to speak to it; without it, stdio for a program and http for an address.",
        ),
        scope_arg("local"),
        Arg(
            name="env",
            flags=("--env", "-e"),
            multiple=True,
            metavar="NAME=VALUE",
            help="A variable for the program.",
        ),
        Arg(
            name="header",
            flags=("--header", "-H"),
            multiple=True,
            metavar="'NAME: VALUE'",
            help="A header for the address.",
        ),
        Arg(name="client_id", flags=("--client-id",), help="The client that is registered at the server."),
        SECRET_ARG,
        Arg(
            name="callback_port",
            flags=("--callback-port",),
            type="int",
            metavar="PORT",
            help="The port of the redirect address that is registered at the server.",
        ),
    ),
    payload=Payload,
    errors=ERRORS,
    exits=((0, "added"), (1, "an error"), (2, "wrong usage")),
    examples=(
        ("checkrein mcp add tracker --scope user https://tracker.example.com/mcp", "a server for you"),
        ("checkrein mcp add time -e TZ=UTC -- uvx mcp-server-time", "a program with a variable"),
        (
            "checkrein mcp add wiki -H 'X-Team: ${TEAM}' https://wiki.example.com/mcp",
            "${...} is replaced when a session connects",
        ),
    ),
)


class Given(Struct, frozen=True, kw_only=True):
    name: str
    target: str
    args: tuple[str, ...]
    project: str
    transport: str | None
    scope: WrittenScope
    env: tuple[str, ...]
    header: tuple[str, ...]
    client_id: str | None
    client_secret: bool
    callback_port: int | None


def run(given: Given) -> Outcome:
    from checkrein.runtime.mcp.draft import Words, from_words

    words = Words(
        target=given.target,
        args=given.args,
        transport=given.transport,
        env=given.env,
        headers=given.header,
        client_id=given.client_id,
        callback_port=given.callback_port,
    )
    return added(given.project, given.scope, given.name, from_words(words), with_secret=given.client_secret)


def added(
    project: str, scope: WrittenScope, name: str, entry: dict[str, Any], *, with_secret: bool
) -> Outcome:
    """Check an entry, write it, and say whether a session would use it."""
    from checkrein.base.errors import UsageError
    from checkrein.cli.mcp_target import roll, secret
    from checkrein.runtime.mcp import draft, scopes

    draft.require_name(name)
    server = draft.checked(name, entry)
    if with_secret and not server.oauth.get("clientId"):
        raise UsageError("--client-secret needs a client: --client-id, or `oauth.clientId` in the entry.")
    kept = secret() if with_secret else None
    place = roll(project).project.place
    origin = scopes.add(place, scope, name, entry)
    after = roll(project)
    listed = after.at(origin)
    if kept is not None and listed is not None:
        import os

        from checkrein.runtime.mcp.signin import sign_in

        sign_in(after.view, os.environ).keep_secret(listed.server, kept)
    part, reason = ("off", None) if listed is None else (listed.part, listed.reason)
    payload = Payload(name, scope, server.transport, origin, part, reason)

    def text() -> str:
        from checkrein.cli import mcp_text

        return mcp_text.added(payload)

    return Outcome(data=payload, text=text)
