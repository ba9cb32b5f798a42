"""MCP servers that misbehave in whole runs: the call ends, the session goes on, no process is left."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.mcp_http import http_server
from support.mcp_runs import (
    DONE,
    FRAMES,
    RICH,
    WAIT,
    Serve,
    allow,
    bodies,
    config,
    configure,
    go,
    results,
    texts,
    written,
)
from support.mcp_servers import is_running, until
from support.programs import Programs, Ran, ended, slack
from support.sessions import call

ECHO = call("mcp__s__echo", a=1)
PID = "open({path!r}, 'a').write(str(os.getpid()) + '\\n')\n"
FAULTS = {
    "crashes": "def call(request, name, arguments):\n    os._exit(3)\n",
    "hangs": "def call(request, name, arguments):\n    pass\n",
    "floods": """
def call(request, name, arguments):
    for _ in range(100):
        sys.stdout.write("x" * (1 << 20))
    sys.stdout.flush()
    time.sleep(60)
""",
    "says nonsense": """
def call(request, name, arguments):
    print("Traceback: this is no JSON", flush=True)
    answer(request, {"content": "not a list"})
""",
    "refuses": "def call(request, name, arguments):\n    refuse(request, -32000, 'out of paper')\n",
    "closes its output": "def call(request, name, arguments):\n    os.close(1); time.sleep(60)\n",
    "calls for help": """
def call(request, name, arguments):
    for number in range(500):
        send({"jsonrpc": "2.0", "id": number, "method": "sampling/createMessage",
              "params": {"messages": [], "maxTokens": 1}})
    answer(request, text("asked"))
""",
}


@pytest.fixture
def pids(project: Path) -> Iterator[Path]:
    """The file in which servers write their process ids. None of them outlives the run."""
    path = project / "pids"
    yield path
    left = [int(line) for line in path.read_text().split() if is_running(int(line))]
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert not left


def noting(pids: Path, changes: str = "") -> str:
    return PID.format(path=str(pids)) + changes


@pytest.mark.parametrize("fault", FAULTS)
def test_a_call_that_goes_wrong_ends_and_the_session_goes_on(
    serve: Serve, project: Path, pids: Path, fault: str
) -> None:
    server = written(project, "s", noting(pids, FAULTS[fault]), timeout=2000)
    ran = go(serve(ECHO, call("Bash", command="echo on"), DONE), *config(s=server), *allow("mcp__s", "Bash"))
    first, second = results(ran)
    assert first["is_error"] is (fault != "calls for help")
    assert "s" in first["content"]
    assert second["content"].strip() == "on"
    assert ran.result["result"] == "done"
    assert ran.seconds < 15 + slack()


def test_a_call_of_a_server_that_has_ended_says_so(serve: Serve, project: Path, pids: Path) -> None:
    server = written(project, "s", noting(pids, FAULTS["crashes"]))
    ran = go(serve(ECHO, ECHO, DONE), *config(s=server), *allow("mcp__s"))
    again = results(ran)[1]
    assert again["is_error"]
    assert "is not connected" in again["content"]


def test_a_broken_definition_leaves_the_others(serve: Serve, project: Path, pids: Path) -> None:
    broken = """
odd = {"type": "object", "properties": {"x": {"type": "nonsense", "$ref": "#/no"}}}
wide = {"anyOf": [{"type": "object", "properties": {"p": {}}, "required": ["p"]}]}
TOOLS += [{"name": "no schema"}, {"name": 7, "inputSchema": {}}, {"inputSchema": {"type": "object"}},
          {"name": "odd", "inputSchema": odd}, {"name": "wide", "inputSchema": wide}]
"""
    server = written(project, "s", noting(pids, broken), alwaysLoad=True)
    programs = serve(ECHO, DONE)
    ran = go(programs, *config(s=server), *allow("mcp__s"))
    assert texts(ran) == ['{"a": 1}']
    for tool in bodies(programs)[0]["tools"]:
        assert tool["input_schema"]["type"] == "object"
        assert not {"anyOf", "oneOf", "allOf"} & set(tool["input_schema"])


def test_a_server_that_floods_while_it_connects_fails(serve: Serve, project: Path, pids: Path) -> None:
    flood = """
def initialize(request):
    while True:
        sys.stdout.write("x" * (1 << 20))
"""
    configure(project, s=written(project, "s", noting(pids, flood)))
    ran = go(serve(WAIT, DONE), env={"MCP_TIMEOUT": "4000"})
    assert "s: failed" in texts(ran)[0]
    assert ran.result["result"] == "done"


def test_a_remote_server_that_goes_away_is_an_error(serve: Serve, project: Path) -> None:
    with http_server() as far:
        far.rule = lambda exchange: exchange.asked == "tools/call" and exchange.reply(500)
        ran = go(serve(ECHO, DONE), *config(s={"type": "http", "url": far.url()}), *allow("mcp__s"))
    assert results(ran)[0]["is_error"]
    assert "500" in texts(ran)[0]


def test_a_remote_server_that_wants_a_login_says_what_to_run(serve: Serve, project: Path) -> None:
    with http_server() as far:
        far.rule = lambda exchange: exchange.reply(401)
        ran = go(serve(WAIT, DONE), *config(s={"type": "http", "url": far.url()}))
    assert ran.frames[0]["mcp_servers"] == [{"name": "s", "status": "needs-auth"}]
    assert "checkrein mcp login s" in texts(ran)[0]


def interrupted(process: subprocess.Popen[str], number: int) -> Ran:
    sent = time.monotonic()
    process.send_signal(number)
    return ended(process, sent)


def begin(programs: Programs, *words: str) -> subprocess.Popen[str]:
    return programs.start("-p", "go", "--trust", *FRAMES, *words)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_servers_connect_ends_the_run(
    serve: Serve, project: Path, pids: Path, number: int
) -> None:
    stuck = "def initialize(request):\n    pass\n"
    programs = serve(DONE)
    process = begin(programs, *config(s=written(project, "s", noting(pids, stuck))))
    assert until(pids.exists, 30)
    ran = interrupted(process, number)
    assert ran.seconds < 2 + slack()
    assert len(ran.results) == 1
    assert not programs.requests


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("deaf", [False, True])
def test_a_signal_during_a_call_ends_the_run(
    serve: Serve, project: Path, pids: Path, number: int, deaf: bool
) -> None:
    there = project / "there"
    stuck = f"def call(request, name, arguments):\n    open({str(there)!r}, 'w').close()\n"
    if deaf:
        stuck += "    time.sleep(60)\nimport signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    programs = serve(ECHO, DONE)
    process = begin(programs, *config(s=written(project, "s", noting(pids, stuck))), *allow("mcp__s"))
    assert until(there.exists, 30)
    ran = interrupted(process, number)
    assert ran.seconds < 2 + slack()
    assert len(ran.results) == 1
    assert ran.status != 0


def test_the_end_of_a_session_ends_all_servers(serve: Serve, project: Path, pids: Path) -> None:
    shared = written(project, "s", noting(pids))
    configure(project, **{f"s{number}": shared for number in range(5)})
    go(serve(WAIT, DONE))
    assert len(pids.read_text().split()) == 5


def test_a_run_that_ends_while_servers_connect_leaves_none(serve: Serve, project: Path, pids: Path) -> None:
    stuck = "def initialize(request):\n    pass\n"
    shared = written(project, "s", noting(pids, stuck))
    configure(project, **{f"s{number}": shared for number in range(5)})
    programs = serve(call("Bash", command="sleep 2.5"), DONE)
    ran = go(programs, *allow("Bash"))
    assert ran.result["result"] == "done"
    assert ran.seconds < 8 + slack()


def test_what_a_server_says_as_it_ends_is_masked(serve: Serve, project: Path, pids: Path) -> None:
    token = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
    dies = f"def initialize(request):\n    sys.exit('no access with {token}')\n"
    configure(project, s=written(project, "s", noting(pids, dies)))
    programs = serve(WAIT, call("ToolSearch", query="zzz"), DONE)
    ran = go(programs)
    assert "no access with" in ran.stdout
    assert token.encode() not in b"".join(asked.body for asked in programs.requests)
    assert token not in ran.stdout


def test_a_prompt_waits_only_for_the_server_that_it_names(serve: Serve, project: Path, pids: Path) -> None:
    stuck = written(project, "stuck", noting(pids, "def initialize(request):\n    pass\n"))
    configure(project, s=written(project, "s", noting(pids, RICH)), stuck=stuck)
    programs = serve(DONE)
    ran = go(programs, prompt="/mcp__s__greet Ada")
    assert b"Greet Ada plainly" in programs.requests[0].body
    assert ran.seconds < 15 + slack()
