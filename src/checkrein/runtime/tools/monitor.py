"""Monitor: a command in the background whose lines come to the model."""

from __future__ import annotations

from typing import Any

from checkrein.facts.timers import MONITOR_LONGEST_MS, MONITOR_MS, MOST_MONITORS
from checkrein.runtime.timers.monitors import Monitors
from checkrein.runtime.tools import bash
from checkrein.runtime.tools.port import ToolContext, ToolFailure, ToolOutput


def run(input: dict[str, Any], context: ToolContext) -> ToolOutput:
    if not bash.stays_allowed(context.env):
        raise ToolFailure("Work in the background is switched off here, so nothing can be watched.")
    state = context.state
    with state.lock:
        monitors = state.monitors = state.monitors or Monitors()
    if monitors.running >= MOST_MONITORS:
        raise ToolFailure(f"{MOST_MONITORS} monitors run already. Stop one with TaskStop first.")
    asked = input.get("timeout_ms")
    timeout = min(asked if asked and asked > 0 else MONITOR_MS, MONITOR_LONGEST_MS)
    persistent = input.get("persistent") is True
    shell = bash.start(input, context, None if persistent else timeout / 1000, "Monitor")
    monitors.add(shell)
    until = "until the session ends" if persistent else f"for {timeout / 1000:g} seconds at most"
    said = f"{shell.id} watches this {until}. Its lines come by themselves; all of them are in {shell.path}"
    structured = {"taskId": shell.id, "timeoutMs": 0 if persistent else timeout, "persistent": persistent}
    return ToolOutput(content=said, structured=structured)
