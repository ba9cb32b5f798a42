"""`checkrein machine show-tool`."""

from __future__ import annotations

from checkrein.cli.machine import args
from checkrein.cli.registry import Arg, Outcome
from checkrein.protocol.machine.inventory import Shown, show_tool

COMMAND = args.verb(
    "show-tool",
    "Show one tool, built in or of an installed package, or an MCP server: source, purpose, input.",
    args=(
        Arg(
            name="name",
            required=True,
            help="Its name, in upper or lower case; `mcp__NAME` for a server's tools.",
        ),
        args.PROJECT,
    ),
    payload=Shown,
    errors=("tool_not_found", "project_not_found"),
)


def run(name: str, project: str) -> Outcome:
    found = show_tool(name, project)
    return Outcome(data=found, text=lambda: f"{found.name}\n{found.source_hint}\n{found.responsibility}")
