"""What a server asks, tells and offers besides tools; and the newest protocol."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from checkrein.llm.cancel import Cancel
from checkrein.runtime.mcp.connection import ServerFailure
from checkrein.runtime.mcp.needs import Delays
from support.mcp_servers import impatient, stdio, until

from .conftest import Connect


def test_a_stream_of_changes_that_always_breaks_is_opened_less_and_less(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from mcp.client.subscriptions import SubscriptionLost

    from checkrein.runtime.mcp import dialogue

    offers = SimpleNamespace(list_changed=True)
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        if seconds > 60:
            raise KeyboardInterrupt

    def listen(**wanted: bool) -> Any:
        raise SubscriptionLost

    monkeypatch.setattr(dialogue.asyncio, "sleep", sleep)
    declared = SimpleNamespace(tools=offers, prompts=None, resources=None)
    client = SimpleNamespace(server_capabilities=declared, listen=listen)
    broken = SimpleNamespace(client=client, is_modern=True, _stale=lambda kind: None)
    with pytest.raises(KeyboardInterrupt):
        dialogue.Dialogue.listen(broken).send(None)  # type: ignore[arg-type]
    assert slept == [1.0, 1.0, 1.0, 6 * 3600.0]


RICH = """
OFFERS = {"tools": {}, "prompts": {"listChanged": True}, "resources": {}}
waiting = {}

def other(request):
    method = request.get("method")
    if method is None:
        waiting.pop(request["id"])(request)
    elif method == "prompts/list":
        answer(request, {"prompts": [{"name": "ask", "arguments": [{"name": "a", "required": True}]}]})
    elif method == "resources/list":
        one = {"uri": "x://1", "name": "one", "mimeType": "text/plain"}
        answer(request, {"resources": [one, {"uri": 3}]})
    elif method == "resources/read":
        answer(request, {"contents": [{"uri": request["params"]["uri"], "text": "inside"}]})
    elif method == "prompts/get":
        said = "go " + request["params"]["arguments"]["a"]
        answer(request, {"messages": [{"role": "user", "content": {"type": "text", "text": said}}]})
    elif "id" in request:
        refuse(request, -32601, "unknown")
    elif method == "notifications/roots/list_changed":
        open("roots-changed", "w").close()

def call(request, name, arguments):
    if name == "log":
        send({"jsonrpc": "2.0", "method": "notifications/message",
              "params": {"level": "warning", "data": {"disk": "\\x1b[31mfull"}}})
        return answer(request, text("ok"))
    waiting["q"] = lambda reply: answer(request, text(json.dumps(reply.get("result") or reply.get("error"))))
    send({"jsonrpc": "2.0", "id": "q", "method": name, **({"params": arguments} if arguments else {})})
"""
FORM = {"message": "Who?", "requestedSchema": {"type": "object", "properties": {"n": {"type": "string"}}}}
SAMPLE = {"messages": [], "maxTokens": 5}


def said(connect: Connect, folder: Path, tool: str, arguments: dict[str, Any], **needs: object) -> str:
    link = connect(stdio(folder, "rich", RICH), **needs).get("rich")
    return str(link.call_tool(tool, arguments, Cancel()).content[0]["text"])


def test_prompts_and_resources(connect: Connect, tmp_path: Path) -> None:
    servers = connect(stdio(tmp_path, "rich", RICH))
    link = servers.get("rich")
    assert [(one.name, one.arguments[0].required) for one in link.catalog.prompts] == [("ask", True)]
    assert [(one.uri, one.mime_type, one.template) for one in link.catalog.resources] == [
        ("x://1", "text/plain", False)
    ]
    assert link.read_resource("x://1", Cancel()) == ({"uri": "x://1", "text": "inside"},)
    (message,) = link.get_prompt("ask", {"a": "home"}, Cancel())
    assert (message.role, message.content["text"]) == ("user", "go home")
    assert len(servers.findings()) == 1


def test_roots(connect: Connect, tmp_path: Path) -> None:
    roots = ["/work/my project"]
    servers = connect(stdio(tmp_path, "rich", RICH), roots=lambda: tuple(roots))
    result = servers.get("rich").call_tool("roots/list", {}, Cancel())
    assert result.content[0]["text"] == '{"roots": [{"uri": "file:///work/my%20project"}]}'
    servers.roots_changed()
    assert until((tmp_path / "roots-changed").exists)


def test_logs(connect: Connect, tmp_path: Path) -> None:
    logged: list[tuple[str, ...]] = []
    said(connect, tmp_path, "log", {}, logged=lambda *one: logged.append(one))
    assert until(lambda: bool(logged))
    assert logged == [("rich", "warning", '{"disk": "\\u001b[31mfull"}')]


def test_elicitation(connect: Connect, tmp_path: Path) -> None:
    asked: list[Any] = []

    def elicit(server: str, params: dict[str, Any], cancel: Cancel) -> dict[str, Any]:
        asked.append((server, params["message"], threading.current_thread().name))
        return {"action": "accept", "content": {"n": "me"}}

    assert '"n": "me"' in said(connect, tmp_path, "elicitation/create", FORM, elicit=elicit)
    assert asked[0][:2] == ("rich", "Who?")
    assert asked[0][2] != "checkrein-mcp"


@pytest.mark.parametrize(
    ("method", "params"), [("elicitation/create", FORM), ("sampling/createMessage", SAMPLE)]
)
def test_nobody_is_there_to_answer(connect: Connect, tmp_path: Path, method: str, params: Any) -> None:
    assert "not supported" in said(connect, tmp_path, method, params)


def test_an_answer_that_can_not_be_given(connect: Connect, tmp_path: Path) -> None:
    def refuse(server: str, params: dict[str, Any], cancel: Cancel) -> dict[str, Any]:
        raise ServerFailure("not today")

    assert "not today" in said(connect, tmp_path, "sampling/createMessage", SAMPLE, sample=refuse)


def test_sampling_that_is_allowed(connect: Connect, tmp_path: Path) -> None:
    content = {"type": "text", "text": "hello"}
    answer = {"role": "assistant", "content": content, "model": "m"}
    text = said(connect, tmp_path, "sampling/createMessage", SAMPLE, sample=lambda *question: answer)
    assert '"model": "m"' in text


def test_a_call_is_not_idle_while_it_asks(connect: Connect, tmp_path: Path) -> None:
    def slowly(server: str, params: dict[str, Any], cancel: Cancel) -> dict[str, Any]:
        time.sleep(1.2)
        return {"action": "decline"}

    entry = stdio(tmp_path, "rich", RICH, times=impatient(idle=0.5))
    link = connect(entry, elicit=slowly).get("rich")
    assert "decline" in link.call_tool("elicitation/create", FORM, Cancel()).content[0]["text"]


def test_a_question_ends_with_the_server(connect: Connect, tmp_path: Path) -> None:
    ended = threading.Event()

    def wait(server: str, params: dict[str, Any], cancel: Cancel) -> dict[str, Any]:
        cancel.wait(30)
        ended.set()
        return {"action": "cancel"}

    dies = RICH + "\nask = call\ndef call(*request):\n ask(*request)\n time.sleep(0.5)\n os._exit(1)"
    link = connect(stdio(tmp_path, "rich", dies), elicit=wait).get("rich")
    with pytest.raises(ServerFailure) as failed:
        link.call_tool("elicitation/create", FORM, Cancel())
    assert failed.value.kind == "gone"
    assert ended.wait(5)


MODERN = """
import sys
from mcp.server.mcpserver import MCPServer

server = MCPServer("modern", instructions="New.")

@server.tool()
def add(a: int, b: int) -> int:
    return a + b

if sys.argv[1:]:
    server.run(transport="streamable-http", port=int(sys.argv[1]))
else:
    server.run(transport="stdio")
"""


def test_a_server_of_the_official_package(connect: Connect, tmp_path: Path) -> None:
    path = tmp_path / "modern.py"
    path.write_text(MODERN)
    entry = stdio(tmp_path, "m", argv=(sys.executable, str(path)), times=impatient(startup=40.0))
    link = connect(entry, wait=40).get("m")
    assert link.status.state == "connected", link.status
    assert link.catalog.tools[0].output_schema is not None
    result = link.call_tool("add", {"a": 2, "b": 3}, Cancel())
    assert result.structured == {"result": 5}


def test_the_newest_protocol_over_http(connect: Connect, tmp_path: Path) -> None:
    path = tmp_path / "modern.py"
    path.write_text(MODERN)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, str(path), str(port)], stderr=subprocess.DEVNULL)
    try:
        entry = stdio(tmp_path, "m", transport="http", url=f"http://127.0.0.1:{port}/mcp")
        servers = connect(entry, delays=Delays(connect=(0.5,) * 40), wait=60)
        link = servers.get("m")
        assert link.status.state == "connected", link.status
        assert link.catalog.protocol == "2026-07-28"
        assert link.call_tool("add", {"a": 2, "b": 3}, Cancel()).structured == {"result": 5}
        began = time.monotonic()
        servers.close(3.0)
        assert time.monotonic() - began < 2
    finally:
        process.kill()
        process.wait()


ONLY_NEW = """
def initialize(request):
    send({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32022, "message": "too old",
          "data": {"supported": ["2026-07-28"], "requested": "2025-11-25"}}})

def tools_list(request):
    answer(request, {"tools": TOOLS, "resultType": "complete", "ttlMs": 0, "cacheScope": "private"})

def call(request, name, arguments):
    answer(request, text("new", resultType="complete"))

def other(request):
    if request.get("method") == "server/discover":
        answer(request, {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
                         "resultType": "complete", "ttlMs": 0, "cacheScope": "private"})
"""


def test_a_stdio_server_that_speaks_only_the_newest_protocol(connect: Connect, tmp_path: Path) -> None:
    link = connect(stdio(tmp_path, "new", ONLY_NEW)).get("new")
    assert link.status.state == "connected", link.status
    assert link.catalog.protocol == "2026-07-28"
    assert [tool.name for tool in link.catalog.tools] == ["echo"]
    assert link.call_tool("echo", {}, Cancel()).content[0]["text"] == "new"


LISTENS = """
ours = {}

def other(request):
    if request.get("method") == "server/discover":
        offers = {"tools": {"listChanged": True}}
        answer(request, {"supportedVersions": ["2026-07-28"], "capabilities": offers,
                         "resultType": "complete", "ttlMs": 0, "cacheScope": "private"})
    elif request.get("method") == "subscriptions/listen":
        ours["_meta"] = {"io.modelcontextprotocol/subscriptionId": request["id"]}
        send({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
              "params": {"notifications": {"toolsListChanged": True}, **ours}})

def call(request, name, arguments):
    TOOLS[0]["name"] = "shout"
    send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": ours})
    answer(request, text("renamed", resultType="complete"))
"""


def test_changes_come_on_the_stream_of_the_newest_protocol(connect: Connect, tmp_path: Path) -> None:
    link = connect(stdio(tmp_path, "new", ONLY_NEW + LISTENS)).get("new")
    assert link.status.state == "connected", link.status
    time.sleep(0.3)
    link.call_tool("echo", {}, Cancel())
    assert until(lambda: [tool.name for tool in link.catalog.tools] == ["shout"])
