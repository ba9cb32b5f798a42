"""Runs of `checkrein -p` with MCP servers."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from support.mcp_servers import program
from support.programs import Frame, Programs, Ran
from support.sessions import call

Serve = Callable[..., Programs]
WAIT = call("WaitForMcpServers")
DONE = {"text": "done"}
FRAMES = ("--output-format", "stream-json", "--verbose")

RICH = r"""
OFFERS = {"tools": {"listChanged": True}, "resources": {}, "prompts": {}}

def tool(name, **more):
    return {"name": name, "description": "It does " + name + ".", "inputSchema": {"type": "object"}, **more}

TOOLS = [tool(name) for name in ("echo", "picture", "facts", "long", "secret", "ask", "where", "shell")]
PIXEL = ("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==")

def ask(request, arguments):
    schema = {"type": "object", "properties": {"size": {"type": "integer", "default": 3},
                                               "name": {"type": "string", "default": "nobody"}}}
    send({"jsonrpc": "2.0", "id": "q1", "method": "elicitation/create",
          "params": {"message": "How many?", "requestedSchema": schema}})
    answer(request, text(json.dumps(json.loads(sys.stdin.readline())["result"], sort_keys=True)))

def call(request, name, arguments):
    if name == "echo":
        answer(request, text(json.dumps(arguments)))
    elif name == "picture":
        answer(request, {"content": [{"type": "text", "text": "a pixel"},
                                     {"type": "image", "data": PIXEL, "mimeType": "image/png"}]})
    elif name == "facts":
        answer(request, {"content": [], "structuredContent": {"answer": 42}})
    elif name == "long":
        answer(request, text("line of text\n" * 40_000))
    elif name == "secret":
        answer(request, text("token=" + "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"))
    elif name == "ask":
        ask(request, arguments)
    elif name == "where":
        answer(request, text(json.dumps({"cwd": os.getcwd(), "project": os.environ.get("CLAUDE_PROJECT_DIR"),
                                         "given": os.environ.get("GIVEN"), "pid": os.getpid()})))
    elif name == "shell":
        import subprocess
        ran = subprocess.run(arguments["command"], shell=True, capture_output=True, text=True)
        answer(request, text(f"{ran.returncode} {ran.stdout}{ran.stderr}"))

def other(request):
    method = request.get("method", "")
    params = request.get("params") or {}
    if method == "resources/list":
        answer(request, {"resources": [{"uri": "note://one", "name": "one", "mimeType": "text/plain"}]})
    elif method == "resources/templates/list":
        answer(request, {"resourceTemplates": []})
    elif method == "resources/read":
        answer(request, {"contents": [{"uri": params["uri"], "text": "the note " + params["uri"]}]})
    elif method == "prompts/list":
        answer(request, {"prompts": [{"name": "greet", "arguments": [{"name": "who", "required": True},
                                                                     {"name": "how"}]}]})
    elif method == "prompts/get":
        said = params.get("arguments", {})
        answer(request, {"messages": [{"role": "user", "content": {
            "type": "text", "text": "Greet " + said.get("who", "?") + " " + said.get("how", "plainly")}}]})
    elif "id" in request and method:
        refuse(request, -32601, "unknown method")
"""


def entry(path: Path, **more: Any) -> dict[str, Any]:
    return {"command": sys.executable, "args": ["-I", str(path)], **more}


def written(project: Path, name: str, changes: str = "", **more: Any) -> dict[str, Any]:
    """The entry of a server whose program lies in the project."""
    return entry(program(project, f"server_{name}", changes), **more)


def configure(project: Path, **servers: Mapping[str, Any]) -> None:
    """Write the project's `.mcp.json`."""
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))


def config(**servers: Mapping[str, Any]) -> tuple[str, str]:
    return "--mcp-config", json.dumps({"mcpServers": servers})


def of_user(**servers: Mapping[str, Any]) -> None:
    """Write the servers of the user, for all projects."""
    (Path(os.environ["HOME"]) / ".claude.json").write_text(json.dumps({"mcpServers": servers}))


def allow(*rules: str) -> tuple[str, str]:
    return "--settings", json.dumps({"permissions": {"allow": list(rules)}})


def go(programs: Programs, *words: str, prompt: str = "go", **more: Any) -> Ran:
    return programs.run("-p", prompt, "--trust", *FRAMES, *words, **more)


def results(ran: Ran) -> list[Frame]:
    """The results of calls, in order."""
    parts = [part for frame in ran.frames if frame["type"] == "user" for part in frame["message"]["content"]]
    return [part for part in parts if isinstance(part, dict) and part["type"] == "tool_result"]


def texts(ran: Ran) -> list[str]:
    return [result["content"] for result in results(ran)]


def servers(ran: Ran) -> dict[str, str]:
    """How the servers were at the start."""
    return {one["name"]: one["status"] for one in ran.frames[0]["mcp_servers"]}


def bodies(programs: Programs) -> list[dict[str, Any]]:
    return [json.loads(asked.body) for asked in programs.requests]


def tool_names(body: Mapping[str, Any]) -> list[str]:
    return [tool["name"] for tool in body["tools"]]


def message_text(body: Mapping[str, Any], place: int = -1) -> str:
    content = body["messages"][place]["content"]
    return content if isinstance(content, str) else json.dumps(content)
