"""TaskOutput and TaskStop: for agents and for commands in the background."""

from __future__ import annotations

from typing import Any

from checkrein.runtime.tools import shells
from checkrein.runtime.tools.port import ToolContext, ToolOutput


def output(input: dict[str, Any], context: ToolContext) -> ToolOutput:
    """What a task has said, after its end unless `block` is false."""
    delegate = context.state.delegate
    found = delegate.output(input, context) if delegate is not None else None
    return found or shells.output(input, context)


def stop(input: dict[str, Any], context: ToolContext) -> ToolOutput:
    delegate = context.state.delegate
    found = delegate.stop(input, context) if delegate is not None else None
    return found or shells.stop(input, context)
