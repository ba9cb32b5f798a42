"""`checkrein mcp add-json`: the same from the JSON of one entry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checkrein.cli.mcp_add import ERRORS, Payload
from checkrein.cli.mcp_target import NAME_ARG, SECRET_ARG, scope_arg
from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.target import PROJECT_ARG

if TYPE_CHECKING:
    from checkrein.runtime.mcp.scopes import WrittenScope

COMMAND = Command(
    name="mcp add-json",
    summary="Add an MCP server from the JSON of its entry.",
    args=(
        NAME_ARG,
        Arg(name="entry", required=True, metavar="JSON", help="The entry, as in .mcp.json."),
        PROJECT_ARG,
        scope_arg("local"),
        SECRET_ARG,
    ),
    payload=Payload,
    errors=ERRORS,
    exits=((0, "added"), (1, "an error"), (2, "wrong usage")),
    examples=(
        (
            """checkrein mcp add-json wiki '{"type": "http", "url": "https://wiki.test/"}'""",
            "an address",
        ),
        (
            """checkrein mcp add-json ci "$(cat ci.json)" --client-secret""",
            "an address with keys of `oauth`; the secret is in MCP_CLIENT_SECRET",
        ),
    ),
)


def run(name: str, entry: str, project: str, scope: WrittenScope, client_secret: bool) -> Outcome:
    from checkrein.cli.mcp_add import added
    from checkrein.runtime.mcp.draft import from_json

    return added(project, scope, name, from_json(entry), with_secret=client_secret)
