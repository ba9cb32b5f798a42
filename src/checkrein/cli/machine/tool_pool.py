"""`checkrein machine tool-pool`."""

from __future__ import annotations

from checkrein.cli.machine import args
from checkrein.cli.registry import Outcome
from checkrein.protocol.machine.pool import Pool

_SHOWN = 15

COMMAND = args.verb(
    "tool-pool",
    "List the tools that a session of this project offers its model.",
    args=(args.PROJECT,),
    payload=Pool,
    errors=("project_not_found",),
)


def run(project: str) -> Outcome:
    from checkrein.protocol.machine.pool import tool_pool
    from checkrein.protocol.machine.setup import Setup

    pool, warnings = tool_pool(Setup(project=project))

    def text() -> str:
        head = ["# Tool Pool", "", f"Simple mode: {pool.simple_mode}", f"Include MCP: {pool.include_mcp}"]
        rows = [f"- {tool.name} ({tool.source_hint})" for tool in pool.tools[:_SHOWN]]
        more = [f"and {pool.tool_count - _SHOWN} more"] if pool.tool_count > _SHOWN else []
        return "\n".join([*head, f"Tool count: {pool.tool_count}", *rows, *more])

    return Outcome(data=pool, text=text, warnings=warnings)
