"""`checkrein mcp get`: one server in full."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from checkrein.cli.mcp_target import NAME_ARG, TIMEOUT_ARG
from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.target import PROJECT_ARG
from checkrein.runtime.mcp.server_row import ServerRow


class Payload(Struct, frozen=True, omit_defaults=True):
    """`entry` is what the file says, without secrets. `claims` is what the server says about each of its
    tools: nobody has checked it. `others` have the same name and are not used."""

    server: ServerRow
    entry: dict[str, Any]
    others: tuple[ServerRow, ...] = ()
    claims: dict[str, tuple[str, ...]] = {}


COMMAND = Command(
    name="mcp get",
    summary="Show one MCP server: its entry, and how it is.",
    details="It also shows the other servers of that name, which no session uses.",
    args=(
        NAME_ARG,
        PROJECT_ARG,
        Arg(name="no_probe", flags=("--no-probe",), type="bool", help="Do not connect."),
        TIMEOUT_ARG,
    ),
    payload=Payload,
    errors=("project_not_found", "server_not_found"),
    examples=(("checkrein mcp get tracker", "where it comes from, and how it is"),),
)


def run(name: str, project: str, no_probe: bool, timeout: float) -> Outcome:
    import os

    from checkrein.cli.mcp_target import roll
    from checkrein.passes.rows import full
    from checkrein.runtime.mcp import overview
    from checkrein.runtime.mcp.probe import probe
    from checkrein.runtime.mcp.server_tool import claims_of

    found = roll(project)
    chosen = found.named(name)
    seen = () if no_probe else probe(found.view, os.environ, names=(name,), timeout=timeout)
    same = [one for one in found.listed if one.server.name == name and one is not chosen]
    row, *others = overview.rows((chosen, *same), seen, found.project.place)
    entry = {key: value for key, value in full(chosen.server).items() if key not in ("origin", "spans")}
    tools = [tool for one in seen for tool in one.catalog.tools]
    claims = {tool.name: told for tool in tools if (told := claims_of(tool))}
    payload = Payload(row, entry, tuple(others), claims)

    def text() -> str:
        from checkrein.cli import mcp_text

        return mcp_text.one(payload)

    return Outcome(data=payload, text=text)
