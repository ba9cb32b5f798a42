"""`checkrein machine tools`."""

from __future__ import annotations

from checkrein.cli.machine import args
from checkrein.cli.registry import Arg, Outcome
from checkrein.protocol.machine.reports import Rows

COMMAND = args.verb(
    "tools",
    "List the tools that a session of this project offers, and its MCP servers, filtered.",
    args=(
        args.PROJECT,
        args.ROWS,
        args.QUERY,
        Arg(name="simple_mode", flags=("--simple-mode",), type="bool", help="Only Bash, Read and Edit."),
        Arg(name="no_mcp", flags=("--no-mcp",), type="bool", help="Leave out MCP servers (`mcp__NAME`)."),
        *args.DENY,
    ),
    payload=Rows,
    errors=("project_not_found", "tool_not_found"),
)


def run(
    project: str,
    limit: int,
    query: str | None,
    simple_mode: bool,
    no_mcp: bool,
    deny_tool: tuple[str, ...],
    deny_prefix: tuple[str, ...],
) -> Outcome:
    from checkrein.cli.machine import reports_text
    from checkrein.protocol.machine.pool import offer
    from checkrein.protocol.machine.reports import list_entries
    from checkrein.protocol.machine.setup import Setup

    most = args.not_negative(limit, "--limit")
    setup = Setup(project=project, deny_tools=deny_tool, deny_prefixes=deny_prefix)
    offered, warnings = offer(setup, simple=simple_mode, mcp=not no_mcp)
    found = list_entries(offered, most, query)
    return Outcome(data=found, text=lambda: reports_text.rows("Tool", found), warnings=warnings)
