"""`checkrein machine exec-tool`."""

from __future__ import annotations

from typing import Any

from checkrein.cli.machine import args
from checkrein.cli.registry import Arg, Outcome
from checkrein.protocol.machine.payloads import ToolRun

COMMAND = args.verb(
    "exec-tool",
    "Run one tool through the gate; nobody can answer questions.",
    args=(
        Arg(name="name", required=True, help="The tool's name."),
        Arg(
            name="payload", required=True, help="Its input, a JSON object; `-` reads it from standard input."
        ),
        args.PROJECT,
        args.MODEL,
        *args.PERMISSIONS,
        args.TIMEOUT,
        args.GRACE,
    ),
    payload=ToolRun,
    errors=(
        "tool_not_found",
        "project_not_found",
        "payload_invalid",
        "stdin_closed",
        "input_too_large",
        "permission_denied",
        "tool_failed",
        "timeout",
        "provider_unknown",
        "credentials_missing",
    ),
)


def run(
    name: str, payload: str, timeout_seconds: float | None, grace_seconds: float, **values: Any
) -> Outcome:
    from checkrein.protocol.machine.execute import exec_tool

    given = args.text_of(payload, "payload")
    done, warnings = exec_tool(name, given, args.setup_of(values), timeout_seconds, grace_seconds)
    return Outcome(data=done, text=lambda: done.message, warnings=warnings)
