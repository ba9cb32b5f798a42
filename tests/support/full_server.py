"""An MCP server with everything that a gateway has to pass on: plain Python on standard input and output."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

SOURCE = """
import json, sys

NAME = sys.argv[1] if len(sys.argv) > 1 else "full"
EXTRA = []
waiting = {}

def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\\n")
    sys.stdout.flush()

def answer(request, result):
    send({"id": request["id"], "result": result})

def tell(method, **params):
    send({"method": method, "params": params})

def ask(method, params, then):
    id = f"q{len(waiting)}"
    waiting[id] = then
    send({"id": id, "method": method, "params": params})

def text(said, **more):
    return {"content": [{"type": "text", "text": said}], **more}

def tool(name, **more):
    return {"name": name, "description": f"{name} of {NAME}", "inputSchema": {"type": "object"}, **more}

def call(request):
    params = request["params"]
    name, given = params["name"], params.get("arguments") or {}
    if name == "echo":
        answer(request, text(json.dumps(given, sort_keys=True)))
    elif name == "rich":
        blocks = [
            {"type": "image", "data": "aGk=", "mimeType": "image/png"},
            {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"},
            {"type": "resource", "resource": {"uri": "mem://a", "text": "A", "mimeType": "text/plain"}},
        ]
        answer(request, {"content": blocks, "structuredContent": {"n": 1}, "_meta": {"x/y": 2}})
    elif name == "fail":
        answer(request, text("it broke", isError=True))
    elif name == "noisy":
        token = params["_meta"]["progressToken"]
        for step in (1, 2):
            tell("notifications/message", level="info", logger="full", data={"step": step})
            tell("notifications/progress", progressToken=token, progress=step, total=2, message=f"at {step}")
        tell("notifications/message", level="debug", data="quiet")
        answer(request, text("done"))
    elif name == "sample":
        body = {"messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}], "maxTokens": 5}
        ask("sampling/createMessage", body, lambda got: answer(request, text(json.dumps(got))))
    elif name == "elicit":
        form = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
        ask("elicitation/create", {"message": "Who?", "requestedSchema": form},
            lambda got: answer(request, text(json.dumps(got))))
    elif name == "grow":
        EXTRA.append(tool("grown"))
        answer(request, text("grown"))
        tell("notifications/tools/list_changed")
    elif name == "touch":
        answer(request, text("touched"))
        tell("notifications/resources/updated", uri="mem://a")
    else:
        send({"id": request["id"], "error": {"code": -32602, "message": f"unknown tool {name}"}})

def serve(request):
    method, params = request["method"], request.get("params") or {}
    if method == "initialize":
        offers = {kind: {"listChanged": True} for kind in ("tools", "prompts")}
        offers |= {"resources": {"listChanged": True, "subscribe": True}, "logging": {}, "completions": {}}
        answer(request, {"protocolVersion": params["protocolVersion"], "capabilities": offers,
                         "serverInfo": {"name": NAME, "version": "1"},
                         "instructions": f"Call {NAME} \\x1b[2Jfirst."})
    elif method == "tools/list":
        names = ("echo", "rich", "fail", "noisy", "sample", "elicit", "grow", "touch")
        hints = {"title": "Echo", "annotations": {"readOnlyHint": True}}
        tools = [tool(name, **(hints if name == "echo" else {})) for name in names]
        answer(request, {"tools": [*tools, *EXTRA]})
    elif method == "tools/call":
        call(request)
    elif method == "resources/list":
        answer(request, {"resources": [{"uri": "mem://a", "name": "a", "size": 1}]})
    elif method == "resources/templates/list":
        answer(request, {"resourceTemplates": [{"uriTemplate": "mem://t/{id}", "name": "t"}]})
    elif method == "resources/read":
        if params["uri"] == "mem://none":
            send({"id": request["id"], "error": {"code": -32002, "message": "no such resource"}})
            return
        answer(request, {"contents": [{"uri": params["uri"], "text": f"{NAME} {params['uri']}"}]})
    elif method in ("resources/subscribe", "resources/unsubscribe", "logging/setLevel"):
        answer(request, {})
    elif method == "prompts/list":
        answer(request, {"prompts": [{"name": "greet", "description": "Greets.",
                                      "arguments": [{"name": "who", "required": True}]}]})
    elif method == "prompts/get":
        said = {"type": "text", "text": f"Hello {params['arguments']['who']}"}
        answer(request, {"messages": [{"role": "user", "content": said}]})
    elif method == "completion/complete":
        answer(request, {"completion": {"values": [params["argument"]["value"] + "!"], "total": 1}})
    else:
        send({"id": request["id"], "error": {"code": -32601, "message": "unknown method"}})

for line in sys.stdin:
    message = json.loads(line)
    if "method" in message and "id" in message:
        serve(message)
    elif "id" in message and message["id"] in waiting:
        waiting.pop(message["id"])(message.get("result") or {"error": message.get("error")})
"""


def entry(directory: Path, name: str = "full") -> dict[str, Any]:
    """The entry of such a server for a configuration."""
    path = directory / "full_server.py"
    path.write_text(SOURCE, "utf-8")
    return {"command": sys.executable, "args": ["-S", str(path), name]}
