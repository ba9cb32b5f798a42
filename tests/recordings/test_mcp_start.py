"""MCP servers at the start of whole runs: when they start, who waits for them, what the model hears."""

from __future__ import annotations

import json
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from support.mcp_http import http_server
from support.mcp_runs import (
    DONE,
    WAIT,
    Serve,
    allow,
    bodies,
    config,
    configure,
    go,
    message_text,
    results,
    servers,
    texts,
    tool_names,
    written,
)
from support.programs import Programs, slack
from support.sessions import call

ECHO = call("mcp__s__echo", a=1)
SILENT = "def initialize(request):\n    pass\n"


def unmarked(body: dict[str, Any]) -> tuple[str, str, list[str]]:
    """What a request sends, without the marks of the cache."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(one) for key, one in value.items() if key != "cache_control"}
        return [plain(one) for one in value] if isinstance(value, list) else value

    messages = [part for message in body["messages"] for part in _parts(message)]
    return (
        json.dumps(plain(body["system"])),
        json.dumps(plain(body["tools"])),
        list(map(json.dumps, map(plain, messages))),
    )


def _parts(message: dict[str, Any]) -> list[Any]:
    content = message["content"]
    return [[message["role"], part] for part in ([content] if isinstance(content, str) else content)]


def is_unbroken(programs: Programs) -> bool:
    sent = list(map(unmarked, bodies(programs)))
    return all(
        after[:2] == before[:2] and after[2][: len(before[2])] == before[2]
        for before, after in pairwise(sent)
    )


def test_a_project_server_brings_its_tools_after_the_first_request(serve: Serve, project: Path) -> None:
    configure(project, s=written(project, "s"))
    programs = serve(WAIT, ECHO, DONE)
    ran = go(programs, *allow("mcp__s"))
    assert servers(ran) == {"s": "pending"}
    assert texts(ran) == ["s: connected", '{"a": 1}']
    first, second, _ = bodies(programs)
    assert "mcp__s" not in json.dumps(first)
    assert "mcp__s__echo" in message_text(second)
    assert "Be kind." in message_text(second)
    assert is_unbroken(programs)
    assert not [frame for frame in ran.frames if frame.get("subtype") == "cache_break"]


def test_the_search_tool_gives_the_definition(serve: Serve, project: Path) -> None:
    configure(project, s=written(project, "s"))
    programs = serve(WAIT, call("ToolSearch", query="select:mcp__s__echo"), DONE)
    ran = go(programs)
    found = json.loads(texts(ran)[1].splitlines()[0].removeprefix("<function>").removesuffix("</function>"))
    assert found["name"] == "mcp__s__echo"
    assert is_unbroken(programs)


def test_an_untrusted_folder_starts_nothing(serve: Serve, project: Path) -> None:
    configure(project, s=written(project, "s", f"open({str(project / 'started')!r}, 'w').close()"))
    programs = serve({"text": "hi", "delay": 1.0})
    ran = programs.run("-p", "go", "--output-format", "stream-json", "--verbose")
    assert ran.status == 0
    assert ran.frames[0]["mcp_servers"] == []
    assert not (project / "started").exists()
    assert "not trusted" in json.dumps(ran.frames)


@pytest.mark.parametrize("as_file", [True, False])
def test_the_first_request_waits_for_servers_of_the_command_line(
    serve: Serve, project: Path, as_file: bool
) -> None:
    words = config(s=written(project, "s"))
    if as_file:
        (project / "given.json").write_text(words[1])
        words = ("--mcp-config", "given.json")
    programs = serve(ECHO, DONE)
    ran = go(programs, *words, *allow("mcp__s"))
    assert servers(ran) == {"s": "connected"}
    assert "mcp__s__echo" in ran.frames[0]["tools"]
    assert texts(ran) == ['{"a": 1}']
    assert "mcp__s__echo" in message_text(bodies(programs)[0])


def test_strict_leaves_only_the_servers_of_the_command_line(serve: Serve, project: Path) -> None:
    configure(project, other=written(project, "other"))
    ran = go(serve(DONE), *config(s=written(project, "s")), "--strict-mcp-config")
    assert servers(ran) == {"s": "connected"}


def test_tools_that_are_always_loaded_are_defined_in_the_first_request(serve: Serve, project: Path) -> None:
    hinted = 'TOOLS.append({**TOOLS[0], "name": "hinted", "_meta": {"anthropic/alwaysLoad": True}})'
    configure(project, s=written(project, "s", alwaysLoad=True), t=written(project, "t", hinted))
    programs = serve(ECHO, DONE)
    ran = go(programs, *allow("mcp__s"), env={"MCP_CONNECTION_NONBLOCKING": "0"})
    names = tool_names(bodies(programs)[0])
    assert {"mcp__s__echo", "mcp__t__hinted"} <= set(names)
    assert "mcp__t__echo" not in names
    assert texts(ran) == ['{"a": 1}']
    assert is_unbroken(programs)


def test_without_search_all_definitions_are_in_the_request(serve: Serve, project: Path) -> None:
    programs = serve(ECHO, DONE)
    go(programs, *config(s=written(project, "s")), *allow("mcp__s"), env={"ENABLE_TOOL_SEARCH": "false"})
    assert "mcp__s__echo" in tool_names(bodies(programs)[0])


@pytest.mark.parametrize(
    ("variable", "more"), [("MCP_TIMEOUT", {}), ("MCP_CONNECT_TIMEOUT_MS", {"alwaysLoad": True})]
)
def test_a_server_that_never_answers_holds_the_first_request_no_longer_than_its_limit(
    serve: Serve, project: Path, variable: str, more: dict[str, Any]
) -> None:
    silent = written(project, "s", SILENT, **more)
    words: tuple[str, ...] = ()
    if more:
        configure(project, s=silent)
    else:
        words = config(s=silent)
    began = time.monotonic()
    programs = serve(DONE)
    ran = go(programs, *words, env={variable: "1500"})
    assert ran.status == 0
    assert 1.4 < programs.requests[0].at - began < 6 + slack()
    assert ran.result["result"] == "done"
    warned = json.dumps([frame for frame in ran.frames if frame["type"] == "system"])
    assert "The MCP server s was not ready within 1.5 s." in warned or "is not connected" in warned


def test_a_failed_server_is_told_to_the_user_and_to_the_model(serve: Serve, project: Path) -> None:
    broken = {"command": sys.executable, "args": ["-c", "import sys; sys.exit('no licence')"]}
    configure(project, s=written(project, "s"), bad=broken)
    programs = serve(WAIT, call("ToolSearch", query="echo"), call("ToolSearch", query="zzz"), DONE)
    ran = go(programs)
    waited, found, nothing = texts(ran)
    assert "bad: failed" in waited
    warned = json.dumps([frame for frame in ran.frames if frame["type"] == "system"])
    for said in (waited, found, nothing, warned):
        assert "no licence" in said
    assert "mcp__s__echo" in found
    assert ran.status == 0


def test_the_user_reads_of_a_failed_server_on_standard_error(serve: Serve, project: Path) -> None:
    configure(project, bad={"command": "/nowhere/at-all"})
    ran = serve(WAIT, DONE).run("-p", "go", "--trust")
    assert ran.stdout == "done\n"
    assert "The MCP server bad is not connected: " in ran.stderr


def test_the_wait_tool_knows_its_servers(serve: Serve, project: Path) -> None:
    configure(project, s=written(project, "s"))
    ran = go(serve(call("WaitForMcpServers", servers=["other"]), DONE))
    assert results(ran)[0]["is_error"]
    assert "There are: s." in texts(ran)[0]


def test_naming_tools_leaves_those_of_servers(serve: Serve, project: Path) -> None:
    programs = serve(ECHO, DONE)
    ran = go(programs, *config(s=written(project, "s")), *allow("mcp__s"), "--tools", "Bash")
    assert texts(ran) == ['{"a": 1}']
    assert set(tool_names(bodies(programs)[0])) >= {"Bash", "mcp__s__echo"}
    assert "Read" not in tool_names(bodies(programs)[0])


def test_a_bare_session_starts_no_server(serve: Serve, project: Path) -> None:
    configure(project, s=written(project, "s", f"open({str(project / 'started')!r}, 'w').close()"))
    ran = go(serve({"text": "hi", "delay": 1.0}), "--bare")
    assert ran.frames[0]["mcp_servers"] == []
    assert not (project / "started").exists()


def test_a_remote_server_is_used_like_any_other(serve: Serve, project: Path) -> None:
    with http_server() as far:
        configure(project, s={"type": "http", "url": far.url(), "headers": {"X-Key": "${KEY:-plain}"}})
        ran = go(serve(WAIT, ECHO, DONE), *allow("mcp__s"))
        assert texts(ran) == ["s: connected", '{"a": 1}']
        assert far.seen[0].headers["x-key"] == "plain"


def test_a_remote_server_of_the_older_kind_is_used(serve: Serve, project: Path) -> None:
    with http_server() as far:
        far.rule = far.older
        configure(project, s={"type": "sse", "url": far.url()})
        ran = go(serve(WAIT, ECHO, DONE), *allow("mcp__s"))
        assert texts(ran) == ["s: connected", '{"a": 1}']


def test_twenty_servers_at_once(serve: Serve, project: Path) -> None:
    shared = written(project, "s")
    configure(project, **{f"s{number}": shared for number in range(20)})
    ran = go(serve(WAIT, call("mcp__s19__echo", a=1), DONE), *allow("mcp__s19"), timeout=120)
    assert texts(ran)[0].count("connected") == 20
    assert texts(ran)[1] == '{"a": 1}'


@pytest.mark.parametrize("given", ["nowhere.json", '{"mcpServers": {', '{"mcpServers": 3}', '{"s": 1}'])
def test_servers_of_the_command_line_that_can_not_be_read_end_the_run(serve: Serve, given: str) -> None:
    programs = serve(DONE)
    ran = programs.run("-p", "go", "--mcp-config", given)
    assert ran.status == 2
    assert "--mcp-config: " in ran.stderr
    assert not programs.requests


def test_a_denied_command_is_denied_however_it_is_written(serve: Serve, project: Path) -> None:
    server = written(project, "s")
    hidden = {**server, "command": "${NOT_SET:-" + server["command"] + "}"}
    configure(project, s=hidden, t=server)
    (project / ".claude").mkdir()
    denied = {"deniedMcpServers": [{"serverCommand": [server["command"], *server["args"]]}]}
    (project / ".claude/settings.json").write_text(json.dumps(denied))
    ran = go(serve(DONE))
    assert ran.frames[0]["mcp_servers"] == []


def test_a_continued_session_extends_the_one_before(serve: Serve, project: Path) -> None:
    configure(project, s=written(project, "s", alwaysLoad=True), t=written(project, "t"))
    programs = serve(ECHO, DONE, ECHO, DONE)
    words = allow("mcp__s")
    go(programs, *words)
    go(programs, "--continue", *words, prompt="more")
    assert len(programs.requests) == 4
    assert is_unbroken(programs)


def test_a_hook_at_the_start_may_be_a_tool_of_a_server(serve: Serve, project: Path) -> None:
    plain = "def call(request, name, arguments):\n    answer(request, text('heard ' + arguments['said']))\n"
    configure(project, s=written(project, "s", plain))
    hook = {"type": "mcp_tool", "server": "s", "tool": "echo", "input": {"said": "by the hook"}}
    given = {"permissions": {"allow": ["mcp__s"]}, "hooks": {"SessionStart": [{"hooks": [hook]}]}}
    programs = serve(DONE)
    ran = go(programs, "--settings", json.dumps(given))
    assert ran.result["result"] == "done"
    assert "heard by the hook" in message_text(bodies(programs)[0])
