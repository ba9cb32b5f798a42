"""Agents with MCP servers of their own, and runs that start them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from support.agents import definition, order
from support.mcp_runs import bodies, go
from support.programs import Programs, Ran
from support.sessions import call

ECHO = call("mcp__own__echo", a=1)
PATIENT = {"MCP_CONNECT_TIMEOUT_MS": "20000"}


def agent(
    project: Path, *named: Any, name: str = "worker", body: str = "You are WORKER.", **fields: Any
) -> None:
    """Write an agent whose `mcpServers` are these."""
    folder = project / ".claude" / "agents"
    folder.mkdir(parents=True, exist_ok=True)
    text = definition(body, name, mcpServers=json.dumps(named), **fields)
    (folder / f"{name}.md").write_text(text)


def waits(**more: Any) -> dict[str, Any]:
    """A call of Agent whose report is the answer."""
    return order(run_in_background=False, **more)


def run_patiently(programs: Programs, *words: str, **more: Any) -> Ran:
    return go(programs, *words, **{"env": PATIENT, **more})


def asked_by(programs: Programs, system: str) -> list[dict[str, Any]]:
    return [body for body in bodies(programs) if system in json.dumps(body["system"])]
