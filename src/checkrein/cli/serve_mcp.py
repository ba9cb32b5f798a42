"""`checkrein serve mcp`: tools behind the project's gate for any MCP client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from checkrein.cli import out
from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.run_args import MODES
from checkrein.cli.target import PROJECT_ARG

if TYPE_CHECKING:
    from checkrein.serve.mcp.visit import Served


class Payload(Struct, frozen=True):
    """Where the server listens, and the file that holds its token."""

    url: str
    token_file: str | None


class Given(Struct, frozen=True, kw_only=True):
    project: str
    through: tuple[str, ...]
    port: int | None
    token_file: str | None
    headless: bool
    permission_mode: str | None
    allow: tuple[str, ...]
    deny: tuple[str, ...]
    trust: bool


COMMAND = Command(
    name="serve mcp",
    summary="Serve tools to any MCP client, every call judged by the project's rules.",
    details="Without --through it serves Checkrein's own tools: few at first, all after `open_kitchen`. With "
    "--through it stands in front of configured servers and passes everything on. Each client has a session "
    "of its own. A call that a rule asks about becomes a question to the client's user, or is refused. On "
    "standard input and output it serves one client; with --port it listens on this machine only, and every "
    "request needs the token.",
    args=(
        PROJECT_ARG,
        Arg(
            name="through",
            flags=("--through",),
            multiple=True,
            greedy=True,
            complete="servers",
            metavar="SERVER",
            help="The configured servers to stand in front of.",
        ),
        Arg(
            name="port",
            flags=("--port",),
            type="port",
            metavar="PORT",
            help="Listen for HTTP on 127.0.0.1; 0 takes a free port.",
        ),
        Arg(
            name="token_file",
            flags=("--token-file",),
            metavar="FILE",
            help="The file with the token; made if there is none. `serve.token` wins.",
        ),
        Arg(
            name="headless",
            flags=("--headless",),
            type="bool",
            help="Serve a headless worker: it sees the tools for workers, and opens nothing. A server that a "
            "worker starts always does.",
        ),
        Arg(
            name="permission_mode",
            flags=("--permission-mode",),
            type="choice",
            choices=MODES,
            help="The permission mode of the sessions.",
        ),
        Arg(name="allow", flags=("--allow",), multiple=True, metavar="RULE", help="Allow calls by a rule."),
        Arg(name="deny", flags=("--deny",), multiple=True, metavar="RULE", help="Deny calls by a rule."),
        Arg(name="trust", flags=("--trust",), type="bool", help="Trust the project while it is served."),
    ),
    payload=Payload,
    output="stream",
    errors=("project_not_found", "server_not_found", "server_not_used", "port_taken", "token_unreadable"),
    examples=(
        ("checkrein serve mcp", "for a client that starts it"),
        ("checkrein serve mcp --through github --port 8765", "rules in front of a server that has none"),
    ),
)


def run(given: Given) -> Outcome:
    import asyncio

    from checkrein.cli.target import require
    from checkrein.serve.mcp.server import make_server

    require(given.project)
    served = _served(given)
    server = make_server(served)
    if given.port is None:
        from checkrein.serve.mcp.stdio import serve_stdio

        asyncio.run(serve_stdio(server))
        return Outcome()
    from checkrein.base.errors import CheckreinError
    from checkrein.base.jsonl import encode_line
    from checkrein.serve.mcp.http import PATH, listening, make_http
    from checkrein.serve.mcp.token import token

    secret, file = token(served.project.place, given.token_file)
    try:
        bound = listening(given.port)
    except OSError as error:
        raise CheckreinError(
            f"Port {given.port} is not usable: {error.strerror}.", kind="port_taken"
        ) from None
    with bound:
        url = f"http://127.0.0.1:{bound.getsockname()[1]}{PATH}"
        out.give_bytes(encode_line(Payload(url, file)))
        asyncio.run(make_http(server, secret).serve(sockets=[bound]))
    return Outcome()


def _served(given: Given) -> Served:
    import os

    from checkrein.cli.mcp_target import roll
    from checkrein.model.rule import split_rule_list
    from checkrein.protocol.machine.project import load_project
    from checkrein.runtime.session.options import Options
    from checkrein.runtime.worker.surroundings import is_worker
    from checkrein.serve.mcp.visit import Served

    options = Options(
        mode=given.permission_mode,
        allowed=tuple(rule for text in given.allow for rule in split_rule_list(text)),
        disallowed=tuple(rule for text in given.deny for rule in split_rule_list(text)),
        trust=given.trust,
        kind="sdk",
    )
    if given.through:
        found = roll(given.project)
        for name in given.through:
            if not given.trust:
                found.used(name)
            else:
                found.named(name)
    return Served(
        project=load_project(given.project),
        options=options,
        through=tuple(dict.fromkeys(given.through)) or None,
        worker=given.headless or is_worker(os.environ),
    )
