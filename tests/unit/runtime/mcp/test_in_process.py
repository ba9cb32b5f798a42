"""A server in the process of the program that runs the session."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import Any

import pytest
from tests.support.program_servers import ProgramServers, says

from checkrein.base.origin import Origin
from checkrein.llm.cancel import Cancel
from checkrein.runtime.mcp.connection import ServerFailure
from checkrein.runtime.mcp.entry import Entry, Times
from checkrein.runtime.mcp.needs import Needs
from checkrein.runtime.mcp.servers import Servers


def entry(name: str, **more: Any) -> Entry:
    return Entry(name=name, transport="sdk", origin=Origin("<command line>", "cli"), **more)


def started(program: ProgramServers | None, *entries: Entry) -> Servers:
    servers = Servers(entries, Needs(exchange=lambda: program))
    servers.start([one.name for one in entries], 5.0)
    return servers


def test_connects_lists_and_calls() -> None:
    program = ProgramServers(calc={"add": lambda given, cancel: {"content": [], "structuredContent": given}})
    servers = started(program, entry("calc"))
    found = servers.get("calc")
    assert found is not None
    assert found.status.state == "connected"
    assert [tool.name for tool in found.catalog.tools] == ["add"]
    assert (found.catalog.server_name, found.catalog.server_version) == ("calc", "1.0.0")
    assert found.call_tool("add", {"a": 2}, Cancel(), call="toolu_1").structured == {"a": 2}
    assert program.methods("calc") == ["initialize", "notifications/initialized", "tools/list", "tools/call"]
    last = program.heard[-1][1]
    assert last["params"]["_meta"] == {"claudecode/toolUseId": "toolu_1"}
    assert [one[1].get("id") for one in program.heard] == [0, None, 1, 2]
    servers.close()


def test_greeting_comes_before_the_rest_and_only_once() -> None:
    program = ProgramServers(a={"x": says("x")}, b={"y": says("y")})
    servers = Servers((entry("a"), entry("b")), Needs(exchange=lambda: program))
    servers.greet()
    assert sorted(name for name, _ in program.heard) == ["a", "b"]
    assert program.methods("a") == ["initialize"]
    servers.start(["a", "b"], 5.0)
    assert program.methods("a") == ["initialize", "notifications/initialized", "tools/list"]
    servers.close()


def test_reconnect_shakes_hands_again() -> None:
    program = ProgramServers(calc={"add": says("5")})
    servers = started(program, entry("calc"))
    program.tools["calc"]["sub"] = says("1")
    status = servers.reconnect("calc")
    assert status is not None
    assert status.state == "connected"
    found = servers.get("calc")
    assert found is not None
    assert [tool.name for tool in found.catalog.tools] == ["add", "sub"]
    assert program.methods("calc").count("initialize") == 2
    servers.close()


@pytest.mark.parametrize(
    ("method", "answer", "said"),
    [
        ("initialize", {"error": {"code": -1, "message": "no\nway"}}, "no\\nway"),
        ("initialize", None, "no result"),
        ("initialize", ["strange"], "no result"),
        ("initialize", {"result": 7}, "no result"),
        ("tools/list", {"error": {"code": -32601, "message": "Method not found"}}, "Method not found"),
        ("tools/list", {"error": "gone"}, "no result"),
    ],
)
def test_strange_answers_are_failures_of_the_server(method: str, answer: Any, said: str) -> None:
    program = ProgramServers(calc={})
    program.instead[method] = answer
    servers = started(program, entry("calc"))
    status = servers.statuses()[0]
    assert status.state == "failed"
    assert said in (status.error or "")
    with pytest.raises(ServerFailure, match="not connected"):
        servers.connections()[0].call_tool("x", {}, Cancel())
    servers.close()


def test_pages_and_broken_definitions() -> None:
    pages = {
        None: {"tools": [{"name": "one", "inputSchema": {}}, {"inputSchema": {}}, 5], "nextCursor": "2"},
        "2": {"tools": [{"name": "one"}, {"name": "two"}], "nextCursor": "2"},
    }
    program = ProgramServers(calc={})
    program.instead["tools/list"] = lambda message, cancel: {
        "result": pages[message.get("params", {}).get("cursor")]
    }
    servers = started(program, entry("calc"))
    assert [tool.name for tool in servers.connections()[0].catalog.tools] == ["one", "two"]
    assert len(servers.findings()) == 3
    servers.close()


def test_unknown_server_and_no_program() -> None:
    servers = started(ProgramServers(), entry("nobody"))
    assert "Server 'nobody' not found" in (servers.statuses()[0].error or "")
    servers.close()
    servers = started(None, entry("calc"))
    assert "serves no MCP servers" in (servers.statuses()[0].error or "")
    servers.close()


def test_a_call_ends_at_its_time_limit_and_at_the_cancel() -> None:
    def hang(given: dict[str, Any], cancel: Cancel) -> dict[str, Any]:
        ended = threading.Event()
        with cancel.on_cancel(ended.set):
            ended.wait(20)
        raise ServerFailure("cancelled", kind="cancelled")

    servers = started(ProgramServers(calc={"hang": hang}), entry("calc", times=Times(call=0.2)))
    with pytest.raises(ServerFailure) as late:
        servers.connections()[0].call_tool("hang", {}, Cancel())
    assert late.value.kind == "timeout"
    cancel = Cancel()
    timer = threading.Timer(0.05, cancel.cancel)
    timer.start()
    with pytest.raises(ServerFailure) as stopped:
        servers.connections()[0].call_tool("hang", {}, cancel)
    assert stopped.value.kind == "cancelled"
    servers.close()


def test_switched_off_it_takes_no_calls() -> None:
    servers = started(ProgramServers(calc={"add": says("5")}), entry("calc"))
    servers.toggle("calc", False, "off for now")
    with pytest.raises(ServerFailure, match="switched off"):
        servers.connections()[0].call_tool("add", {}, Cancel())
    servers.toggle("calc", True)
    servers.wait(["calc"], 5.0)
    assert servers.connections()[0].call_tool("add", {}, Cancel()).content[0]["text"] == "5"
    servers.close()


def test_prompts_and_resources_where_the_server_has_them() -> None:
    program = ProgramServers(docs={})
    program.capabilities = {"prompts": {}, "resources": {}}
    program.instead = {
        "prompts/list": {"result": {"prompts": [{"name": "greet"}]}},
        "prompts/get": {
            "result": {"messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}]}
        },
        "resources/list": {"result": {"resources": [{"uri": "a:b", "name": "b"}]}},
        "resources/templates/list": {"error": {"code": -32601, "message": "Method not found"}},
        "resources/read": {"result": {"contents": [{"uri": "a:b", "text": "words"}]}},
    }
    servers = started(program, entry("docs"))
    found = servers.connections()[0]
    assert found.status.state == "connected"
    assert "tools/list" not in program.methods("docs")
    assert found.get_prompt("greet", {}, Cancel())[0].content["text"] == "hi"
    assert found.read_resource("a:b", Cancel()) == ({"uri": "a:b", "text": "words"},)
    servers.close()


def test_nothing_heavy_is_imported() -> None:
    code = """
import sys
from tests.unit.runtime.mcp.test_in_process import ProgramServers, Cancel, entry, says, started
servers = started(ProgramServers(calc={"add": says("5")}), entry("calc"))
assert servers.connections()[0].call_tool("add", {}, Cancel()).content[0]["text"] == "5"
servers.close()
print(sorted({"mcp", "mcp_types", "asyncio", "anyio", "pydantic"} & set(sys.modules) - before))
"""
    plain = "import sys, pytest\nbefore = set(sys.modules)\n" + code
    done = subprocess.run([sys.executable, "-c", plain], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
