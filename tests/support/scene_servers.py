"""The MCP servers of a scene: whoever reaches one of them leaves a line in a log."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from support.mcp_runs import written

AWAITED = {"MCP_CONNECTION_NONBLOCKING": "0", "MCP_CONNECT_TIMEOUT_MS": "60000"}
LOG = "mcp.log"
_NAMES = ("a__b__c", "my__server", "x__")
_PROGRAM = """
OFFERS = {{"tools": {{}}, "resources": {{}}, "prompts": {{}}}}
TOOLS = [{{"name": name, "inputSchema": {{"type": "object"}}}} for name in {tools!r}]

def reached(request, result):
    with open({log!r}, "a") as file:
        file.write(json.dumps(request) + "\\n")
    answer(request, result)

def call(request, name, arguments):
    reached(request, text("called"))

def other(request):
    method = request.get("method", "")
    if method == "resources/list":
        answer(request, {{"resources": [{{"uri": "repo://x", "name": {secret!r}}}]}})
    elif method == "resources/templates/list":
        answer(request, {{"resourceTemplates": []}})
    elif method == "resources/read":
        reached(request, {{"contents": [{{"uri": "repo://x", "text": "read"}}]}})
    elif method == "prompts/list":
        answer(request, {{"prompts": [{{"name": "prompt"}}]}})
    elif method == "prompts/get":
        reached(request, {{"messages": []}})
    elif "id" in request:
        refuse(request, -32601, "unknown method")
"""


def lay_servers(project: Path, row: Mapping[str, Any], secret: str) -> None:
    """Give the project the server that the row's call is for. Names of resources hold the secret."""
    tool = row["tool"]
    name = next((one for one in _NAMES if tool.startswith(f"mcp__{one}__")), "github")
    name = row["input"].get("server", name)
    called = tool.removeprefix(f"mcp__{name}__")
    program = _PROGRAM.format(tools=[called], log=str(project.parent / LOG), secret=secret)
    servers = {"mcpServers": {name: written(project, "scene", program)}}
    (project / ".mcp.json").write_text(json.dumps(servers))
