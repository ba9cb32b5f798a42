"""Mcp_tool hooks: call a tool of a connected server; its text counts as standard output."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from checkrein.model.items import Hook
from checkrein.runtime.hooks.output import Raw
from checkrein.runtime.hooks.ports import Ports

if TYPE_CHECKING:
    from checkrein.llm.cancel import Cancel
    from checkrein.runtime.session.events import Event

_PATH = re.compile(r"\$\{([A-Za-z_][\w.]*)\}")


def call(
    hook: Hook, payload: dict[str, Any], ports: Ports, cancel: Cancel, emit: Callable[[Event], None]
) -> Raw:
    if ports.call_tool is None:
        return Raw(failure=f"the MCP server {hook.server} is not connected", exit_code=None)
    given = filled(hook.input, payload)
    said = ports.call_tool(hook.server or "", hook.tool or "", given, cancel, emit)
    return Raw(stdout=said, exit_code=None)


def filled(value: Any, payload: dict[str, Any]) -> Any:
    """Fill in `${tool_input.command}` and the like in all texts of the input; a missing one is empty."""
    if isinstance(value, str):
        return _PATH.sub(lambda found: _at(payload, found[1]), value)
    if isinstance(value, dict):
        return {key: filled(item, payload) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [filled(item, payload) for item in value]
    return value


def _at(payload: Any, path: str) -> str:
    for key in path.split("."):
        if isinstance(payload, list) and key.isdecimal() and int(key) < len(payload):
            payload = payload[int(key)]
        elif isinstance(payload, dict) and key in payload:
            payload = payload[key]
        else:
            return ""
    return payload if isinstance(payload, str) else msgspec.json.encode(payload, enc_hook=str).decode()
