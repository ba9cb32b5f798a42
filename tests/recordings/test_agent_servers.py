"""MCP servers of one agent: who has them, and when they start and end."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from support.agent_servers import ECHO, PATIENT, agent, asked_by, run_patiently, waits
from support.agents import below, orders
from support.mcp_runs import (
    DONE,
    RICH,
    Serve,
    allow,
    bodies,
    configure,
    entry,
    message_text,
    results,
    servers,
    texts,
    written,
)
from support.mcp_servers import is_running, until
from support.sessions import call

WHERE = call("mcp__own__where")
HANGS = "def initialize(request):\n    time.sleep(600)\n"


def noted(project: Path) -> str:
    """A server that writes down its process."""
    return f"import os\nopen({str(project / 'pid')!r}, 'w').write(str(os.getpid()))\n"


def test_only_the_agent_has_the_tool(serve: Serve, project: Path) -> None:
    agent(project, {"own": written(project, "own")})
    programs = serve(*below(ECHO, {"text": "it said it"}), orders(waits()), ECHO, DONE)
    ran = run_patiently(programs, *allow("mcp__own", "Agent"))
    answers = results(ran)
    assert '{"a": 1}' in [one["content"] for one in answers]
    assert answers[-1]["is_error"]
    assert servers(ran) == {}
    assert "mcp__own__echo" not in ran.frames[0]["tools"]
    mine = asked_by(programs, "WORKER")
    assert "mcp__own__echo" in message_text(mine[0], 0)
    assert "Be kind." in message_text(mine[0], 0)
    parents = [body for body in bodies(programs) if body not in mine]
    assert len(parents) == 3
    for body in parents:
        assert "mcp__own__echo" not in json.dumps([body["tools"], body["system"], body["messages"][:2]])


def test_the_process_is_gone_while_the_session_goes_on(serve: Serve, project: Path) -> None:
    agent(project, {"own": written(project, "own", noted(project))})
    look = call("Bash", command="sleep 0.2; kill -0 $(cat pid) && echo alive || echo gone")
    programs = serve(*below(ECHO, {"text": "done"}), orders(waits()), look, DONE)
    ran = run_patiently(programs, *allow("mcp__own", "Bash"))
    assert (project / "pid").exists()
    assert "gone" in texts(ran)[-1]
    assert "alive" not in texts(ran)[-1]


def test_two_agents_with_a_server_of_one_name(serve: Serve, project: Path) -> None:
    first = "def call(request, name, arguments):\n    answer(request, text('I am the first'))\n"
    second = first.replace("first", "second")
    agent(project, {"own": written(project, "one", first)})
    agent(project, {"own": written(project, "two", second)}, name="other", body="You are OTHER.")
    programs = serve(
        *below(ECHO, {"text": "a"}),
        *below(ECHO, {"text": "b"}, system="OTHER"),
        orders(waits(), waits(type="other")),
        DONE,
    )
    said = texts(run_patiently(programs, *allow("mcp__own")))
    assert "I am the first" in said
    assert "I am the second" in said


def test_its_own_server_counts_before_one_of_the_session(serve: Serve, project: Path) -> None:
    theirs = "TOOLS[0]['name'] = 'theirs'\n"
    mine = "def call(request, name, arguments):\n    answer(request, text('mine'))\n"
    configure(project, own=written(project, "theirs", theirs))
    agent(project, {"own": written(project, "mine", mine)})
    wait = call("WaitForMcpServers")
    programs = serve(
        *below(ECHO, call("mcp__own__theirs"), {"text": "done"}),
        wait,
        orders(waits()),
        call("mcp__own__theirs", b=2),
        ECHO,
        DONE,
    )
    answers = results(run_patiently(programs, *allow("mcp__own")))
    by_text = [(one["content"], one.get("is_error", False)) for one in answers]
    assert ("mine", False) in by_text
    assert ('{"b": 2}', False) in by_text
    assert [wrong for _, wrong in by_text].count(True) == 2


def test_a_server_that_hangs_does_not_hold_the_agent(serve: Serve, project: Path) -> None:
    agent(project, {"own": written(project, "own", HANGS)}, tools="Read, mcp__own__*")
    programs = serve(*below({"text": "without it"}), orders(waits()), DONE)
    began = time.monotonic()
    ran = run_patiently(programs, env={"MCP_CONNECT_TIMEOUT_MS": "1000"})
    assert time.monotonic() - began < 25
    assert "without it" in texts(ran)[0]
    told = message_text(asked_by(programs, "WORKER")[0], 0)
    assert "own is still connecting; its tools come later." in told
    assert "WaitForMcpServers" not in told


def test_a_server_that_is_late_brings_its_tools_later(serve: Serve, project: Path) -> None:
    late = "plain = initialize\ndef initialize(request):\n    time.sleep(1.5)\n    plain(request)\n"
    agent(project, {"own": written(project, "own", late)})
    pause = call("Bash", command="sleep 6")
    programs = serve(*below(pause, ECHO, {"text": "done"}), orders(waits()), DONE)
    ran = run_patiently(programs, *allow("mcp__own", "Bash"), env={"MCP_CONNECT_TIMEOUT_MS": "100"})
    assert '{"a": 1}' in texts(ran)
    assert "The MCP server own was not ready within 0.1 s." in ran.stdout


def test_a_search_finds_its_tools(serve: Serve, project: Path) -> None:
    agent(project, {"own": written(project, "own")})
    search = call("ToolSearch", query="echo")
    programs = serve(*below(search, ECHO, {"text": "done"}), orders(waits()), search, DONE)
    ran = run_patiently(programs, *allow("mcp__own"), env={**PATIENT, "ENABLE_TOOL_SEARCH": "true"})
    answers = texts(ran)
    assert "Says it again." in answers[0]
    assert answers[1] == '{"a": 1}'
    assert "Says it again." not in answers[-1]
    assert "mcp__own__echo" in message_text(asked_by(programs, "WORKER")[0], 0)


def test_a_server_that_fails_is_told_to_the_agent_and_the_person(serve: Serve, project: Path) -> None:
    agent(project, {"own": {"command": "/nowhere/at-all"}})
    programs = serve(*below({"text": "without it"}), orders(waits()), DONE)
    ran = run_patiently(programs)
    assert "own is not connected" in message_text(asked_by(programs, "WORKER")[0], 0)
    assert "The MCP server own is not connected" in ran.stdout + ran.stderr


def test_an_agent_below_has_what_the_pool_gives(serve: Serve, project: Path) -> None:
    agent(project, {"own": written(project, "own")})
    agent(project, name="plain", body="You are PLAIN.")
    agent(project, name="poor", body="You are POOR.", tools="Read")
    programs = serve(
        *below(ECHO, {"text": "c"}, system="PLAIN"),
        *below(ECHO, {"text": "d"}, system="POOR"),
        *below(orders(waits(type="plain"), waits(type="poor")), {"text": "b"}),
        orders(waits()),
        DONE,
    )
    ran = run_patiently(programs, *allow("mcp__own"))
    assert texts(ran).count('{"a": 1}') == 1
    assert "mcp__own__echo" not in json.dumps(asked_by(programs, "POOR")[0])


def test_an_agent_that_goes_on_connects_again(serve: Serve, project: Path) -> None:
    agent(project, {"own": written(project, "own", RICH)})
    again = call("SendMessage", to="w", message="once more")
    programs = serve(
        *below(WHERE, {"text": "one"}, WHERE, {"text": "two"}),
        orders(waits(name="w")),
        again,
        DONE,
        DONE,
    )
    ran = run_patiently(programs, *allow("mcp__own"))
    pids = [json.loads(text)["pid"] for text in texts(ran) if '"pid"' in text]
    assert len(set(pids)) == 2, texts(ran)
    assert until(lambda: not any(map(is_running, pids)))


def test_resources_of_its_server(serve: Serve, project: Path) -> None:
    agent(project, {"own": written(project, "own", RICH)})
    programs = serve(
        *below(call("ReadMcpResourceTool", server="own", uri="note://one"), {"text": "done"}),
        orders(waits()),
        call("ReadMcpResourceTool", server="own", uri="note://one"),
        DONE,
    )
    ran = run_patiently(programs, *allow("mcp__own", "ReadMcpResourceTool"))
    answers = results(ran)
    assert any("the note note://one" in one["content"] for one in answers[:1])
    assert answers[-1]["is_error"]


def test_names_only_change_nothing(serve: Serve, project: Path) -> None:
    configure(project, s=written(project, "s"), t=written(project, "t"))
    agent(project, "s")
    programs = serve(
        *below(call("mcp__s__echo", a=1), call("mcp__t__echo", b=2), {"text": "done"}),
        call("WaitForMcpServers"),
        orders(waits()),
        DONE,
    )
    said = texts(run_patiently(programs, *allow("mcp__s", "mcp__t")))
    assert '{"a": 1}' in said
    assert '{"b": 2}' in said


def test_the_servers_of_the_main_agent_join_those_of_the_session(serve: Serve, project: Path) -> None:
    configure(project, s=written(project, "s"))
    agent(
        project, {"own": written(project, "own")}, {"s": written(project, "better", "TOOLS[0]['name'] = 'x'")}
    )
    programs = serve(ECHO, call("mcp__s__x", b=2), DONE)
    ran = run_patiently(programs, "--agent", "worker", *allow("mcp__own", "mcp__s"))
    assert texts(ran) == ['{"a": 1}', '{"b": 2}']
    assert set(servers(ran)) == {"own", "s"}


@pytest.mark.parametrize("behaviour", ["", HANGS])
def test_a_killed_session_leaves_no_process(serve: Serve, project: Path, behaviour: str) -> None:
    agent(project, {"own": written(project, "own", noted(project) + behaviour)})
    programs = serve(*below({"text": "late", "delay": 30}), orders(waits()), DONE)
    process = programs.start("-p", "go", "--trust", env=PATIENT)
    programs.await_file("pid")
    pid = int(until(lambda: (project / "pid").read_text() != "") and (project / "pid").read_text())
    process.terminate()
    assert process.wait(20) != 0
    assert until(lambda: not is_running(pid))


def test_a_remote_entry_that_can_not_work(serve: Serve, project: Path) -> None:
    agent(project, {"own": entry(project / "missing.py")}, {"far": {"type": "http", "url": ""}})
    programs = serve(*below({"text": "fine"}), orders(waits()), DONE)
    ran = run_patiently(programs)
    assert "fine" in texts(ran)[0]


def test_a_hook_of_the_agent_calls_its_server(serve: Serve, project: Path) -> None:
    noted_call = f"def call(request, name, arguments):\n    open({str(project / 'called')!r}, 'w').close()\n"
    hook = {"type": "mcp_tool", "server": "own", "tool": "echo", "input": {}}
    agent(
        project,
        {"own": written(project, "own", noted_call + "    answer(request, text('{}'))\n")},
        hooks=json.dumps({"PostToolUse": [{"matcher": "Read", "hooks": [hook]}]}),
    )
    read = call("Read", file_path=str(project / "a.txt"))
    run_patiently(serve(*below(read, {"text": "done"}), orders(waits()), DONE), *allow("mcp__own"))
    assert (project / "called").exists()
