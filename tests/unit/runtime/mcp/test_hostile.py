"""Servers that break, hang, flood or lie: a call ends with a clear error in time, and no process is left."""

from __future__ import annotations

import resource
import time
from pathlib import Path

import pytest

from checkrein.llm.cancel import Cancel
from checkrein.runtime.mcp.connection import ServerFailure
from checkrein.runtime.mcp.entry import Entry
from checkrein.runtime.mcp.servers import Servers
from checkrein.runtime.process.spawner import Spawner
from support.mcp_servers import impatient, is_running, stdio, until

from .conftest import Connect

WITH_PID = "TOOLS = [{'name': f'pid{os.getpid()}', 'inputSchema': {'type': 'object'}}]\n"


def pid_of(servers: Servers, name: str) -> int:
    return int(servers.get(name).catalog.tools[0].name[3:])


def content(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def fails(servers: Servers, name: str, within: float = 10.0) -> ServerFailure:
    began = time.monotonic()
    with pytest.raises(ServerFailure) as failed:
        servers.get(name).call_tool("echo", {}, Cancel())
    assert time.monotonic() - began < within
    return failed.value


def test_a_crash_in_mid_call(connect: Connect, tmp_path: Path) -> None:
    crash = "def call(*request):\n print('Traceback\\n\\x1b[2Jno disk', file=sys.stderr)\n os._exit(3)"
    servers = connect(stdio(tmp_path, "bad", crash), stdio(tmp_path, "good"))
    failed = fails(servers, "bad")
    assert failed.kind == "gone"
    assert "status 3: \\x1b[2Jno disk" in failed.message
    assert until(lambda: servers.get("bad").status.state == "failed")
    again = fails(servers, "bad")
    assert again.kind == "gone"
    for told in (failed, again):
        assert told.message.endswith("that has ended; a new session starts it.")
    assert not servers.get("good").call_tool("echo", {}, Cancel()).is_error
    assert servers.reconnect("bad").state == "connected"


def test_a_hanging_call_ends_at_its_limit(connect: Connect, tmp_path: Path) -> None:
    hang = WITH_PID + "def call(request, name, arguments): time.sleep(60)"
    servers = connect(stdio(tmp_path, "bad", hang, times=impatient(call=0.5)), stdio(tmp_path, "good"))
    pid = pid_of(servers, "bad")
    failed = fails(servers, "bad", within=2.0)
    assert (failed.kind, "0.5 s" in failed.message) == ("timeout", True)
    assert not servers.get("good").call_tool("echo", {}, Cancel()).is_error
    servers.close(3.0)
    assert not is_running(pid)


def test_a_silent_call_ends_when_it_is_idle(connect: Connect, tmp_path: Path) -> None:
    hang = "def call(request, name, arguments): time.sleep(60)"
    servers = connect(stdio(tmp_path, "bad", hang, times=impatient(idle=0.4)))
    failed = fails(servers, "bad", within=3.0)
    assert (failed.kind, "neither an answer nor progress" in failed.message) == ("timeout", True)


def test_progress_keeps_a_call_alive(connect: Connect, tmp_path: Path) -> None:
    work = """
def call(request, name, arguments):
    token = request["params"]["_meta"]["progressToken"]
    for step in range(6):
        time.sleep(0.2)
        send({"jsonrpc": "2.0", "method": "notifications/progress",
              "params": {"progressToken": token, "progress": step, "total": 6, "message": "on it"}})
    answer(request, text("done"))
"""
    heard: list[object] = []
    servers = connect(stdio(tmp_path, "slow", work, times=impatient(idle=0.7)))
    result = servers.get("slow").call_tool("echo", {}, Cancel(), lambda *step: heard.append(step))
    assert result.content[0]["text"] == "done"
    assert heard[0] == (0.0, 6.0, "on it")


def test_a_cancelled_call_is_told_to_the_server(connect: Connect, tmp_path: Path) -> None:
    quiet = """
def call(request, name, arguments): pass
def other(request):
    if request.get("method") == "notifications/cancelled":
        open("cancelled", "w").write(json.dumps(request["params"]))
"""
    servers = connect(stdio(tmp_path, "s", quiet))
    with Cancel().branch(0.3) as cancel:
        began = time.monotonic()
        with pytest.raises(ServerFailure, match="was cancelled") as failed:
            servers.get("s").call_tool("echo", {}, cancel)
    assert failed.value.kind == "cancelled"
    assert time.monotonic() - began < 2
    assert until(lambda: "requestId" in content(tmp_path / "cancelled"))


def test_a_server_that_never_answers_the_handshake(connect: Connect, tmp_path: Path) -> None:
    dumb = "def initialize(request):\n open('pid', 'w').write(str(os.getpid()))\n"
    dumb += " print('thinking', file=sys.stderr, flush=True)"
    entry = stdio(tmp_path, "bad", dumb, times=impatient(startup=1.0))
    servers = connect(entry, stdio(tmp_path, "good"))
    status = servers.get("bad").status
    assert status.state == "failed"
    assert status.error is not None
    assert "within 1 s" in status.error
    assert "thinking" in status.error
    assert servers.get("good").status.state == "connected"
    assert not is_running(int((tmp_path / "pid").read_text()))


def test_a_server_that_dies_at_start(connect: Connect, tmp_path: Path) -> None:
    servers = connect(stdio(tmp_path, "bad", "sys.exit('cannot find \\x07the licence')"))
    status = servers.get("bad").status
    assert status.state == "failed"
    assert status.error == "It ended with status 1: cannot find \\x07the licence"


@pytest.mark.parametrize(
    ("argv", "why"),
    [(("/nowhere/server",), "was not found"), (("/etc/passwd",), "could not be started")],
)
def test_a_command_that_does_not_start(
    connect: Connect, tmp_path: Path, argv: tuple[str, ...], why: str
) -> None:
    status = connect(stdio(tmp_path, "bad", argv=argv)).get("bad").status
    assert status.state == "failed"
    assert why in (status.error or "")


FLOODS = {
    "one line": "sys.stdout.write('x' * (100 << 20)); sys.stdout.flush()",
    "a result": "answer(request, text('x' * (100 << 20)))",
}


@pytest.mark.parametrize("flood", FLOODS.values(), ids=FLOODS.keys())
def test_a_flood_of_100_mb(connect: Connect, tmp_path: Path, flood: str) -> None:
    changes = f"{WITH_PID}def call(request, name, arguments): {flood}; time.sleep(60)"
    servers = connect(stdio(tmp_path, "bad", changes), stdio(tmp_path, "good"))
    pid = pid_of(servers, "bad")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    failed = fails(servers, "bad", within=15)
    assert failed.kind == "gone"
    assert "wrote a line of more than" in failed.message
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 160 << 10
    assert not servers.get("good").call_tool("echo", {}, Cancel()).is_error
    servers.close(3.0)
    assert not is_running(pid)


def test_a_flood_of_short_lines(connect: Connect, tmp_path: Path) -> None:
    flood = """
def call(request, name, arguments):
    note = json.dumps({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}) + "\\n"
    ping = json.dumps({"jsonrpc": "2.0", "id": "p", "method": "ping"}) + "\\n"
    for _ in range(300):
        sys.stdout.write(note * 10 + "no json at all\\n" * 10 + ping * 10)
    answer(request, text("done"))
"""
    logged: list[str] = []
    servers = connect(stdio(tmp_path, "loud", flood), logged=lambda server, level, said: logged.append(said))
    assert servers.get("loud").call_tool("echo", {}, Cancel()).content[0]["text"] == "done"
    assert 0 < len(logged) < 50
    assert "no json at all" in logged[0]


def test_requests_that_nobody_lets_us_answer(connect: Connect, tmp_path: Path) -> None:
    deaf = """
def call(request, name, arguments):
    for number in range(100_000):
        sys.stdout.write('{"jsonrpc": "2.0", "id": "p%d", "method": "ping"}\\n' % number)
    sys.stdout.flush()
    time.sleep(60)
"""
    servers = connect(stdio(tmp_path, "deaf", deaf, times=impatient(call=8.0)), stdio(tmp_path, "good"))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert fails(servers, "deaf", within=10).kind == "timeout"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 << 10
    assert not servers.get("good").call_tool("echo", {}, Cancel()).is_error


WRONG = {
    "no JSON": ("print('{broken'); sys.stdout.flush()", "timeout"),
    "deep": ("print('[' * 100_000); sys.stdout.flush()", "timeout"),
    "another id": ("send({'jsonrpc': '2.0', 'id': 'other', 'result': {}})", "timeout"),
    "no result": ("send({'jsonrpc': '2.0', 'id': request['id'], 'result': 7})", "failed"),
    "another shape": ("answer(request, {'content': 'text'})", "failed"),
    "a closed pipe": ("os.close(1); time.sleep(60)", "gone"),
}


@pytest.mark.parametrize(("wrong", "kind"), WRONG.values(), ids=WRONG.keys())
def test_wrong_answers(connect: Connect, tmp_path: Path, wrong: str, kind: str) -> None:
    entry = stdio(tmp_path, "bad", f"def call(request, name, arguments): {wrong}", times=impatient(call=1.5))
    servers = connect(entry)
    assert fails(servers, "bad", within=4).kind == kind
    if kind != "gone":
        assert servers.get("bad").status.state == "connected"


def test_two_answers_to_one_call(connect: Connect, tmp_path: Path) -> None:
    twice = (
        "def call(request, name, arguments):\n for said in 'ab': answer(request, text(said + str(arguments)))"
    )
    link = connect(stdio(tmp_path, "s", twice)).get("s")
    for number in range(3):
        assert link.call_tool("echo", {"n": number}, Cancel()).content[0]["text"] == f"a{{'n': {number}}}"


BROKEN = """
TOOLS = [
    {"name": "fine", "inputSchema": {"anyOf": [{"type": "object"}]}},
    {"name": "texty", "inputSchema": "string"},
    {"name": "list", "inputSchema": {"type": "array"}},
    {"name": "", "inputSchema": {"type": "object"}},
    {"name": 7, "inputSchema": {"type": "object"}},
    "tool",
    {"name": "huge", "description": "x" * (2 << 20), "inputSchema": {"type": "object"}},
    {"name": "odd", "inputSchema": {"type": "object", "properties": {"a": 3}, "required": "a"},
     "annotations": "x", "outputSchema": [], "icons": 4},
    {"name": "fine", "inputSchema": {"type": "object"}},
]
"""


def test_broken_definitions_cost_only_themselves(connect: Connect, tmp_path: Path) -> None:
    servers = connect(stdio(tmp_path, "s", BROKEN))
    assert [tool.name for tool in servers.get("s").catalog.tools] == ["fine", "odd"]
    assert servers.get("s").catalog.tools[0].schema == {"anyOf": [{"type": "object"}]}
    assert not servers.get("s").call_tool("fine", {}, Cancel()).is_error
    found = servers.findings()
    assert {finding.code for finding in found} == {"RUNMCP003"}
    assert len(found) == 7
    assert "`texty` has an input schema" in found[0].message


def test_an_output_schema_can_not_hang_us(connect: Connect, tmp_path: Path) -> None:
    trap = """
TOOLS[0]["outputSchema"] = {"type": "object", "properties": {"a": {"pattern": "^(a+)+$"}}}
def call(request, name, arguments): answer(request, text("x", structuredContent={"a": "a" * 40 + "!"}))
"""
    link = connect(stdio(tmp_path, "s", trap)).get("s")
    assert link.call_tool("echo", {}, Cancel()).structured == {"a": "a" * 40 + "!"}
    assert link.catalog.tools[0].output_schema is not None


def test_endless_pages(connect: Connect, tmp_path: Path) -> None:
    endless = """
count = 0
def tools_list(request):
    global count
    count += 1
    answer(request, {"tools": [{"name": f"t{count}", "inputSchema": {}}], "nextCursor": str(count)})
"""
    servers = connect(stdio(tmp_path, "s", endless))
    assert len(servers.get("s").catalog.tools) == 100
    assert "more than 100 pages" in servers.findings()[0].message


def test_tools_renamed_in_mid_session(connect: Connect, tmp_path: Path) -> None:
    renames = """
def call(request, name, arguments):
    if name == "echo":
        TOOLS[0]["name"] = "shout"
        send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        answer(request, text("renamed"))
    else:
        refuse(request, -32602, "unknown tool")
"""
    changes: list[tuple[str, ...]] = []
    servers = connect(
        stdio(tmp_path, "s", renames),
        changed=lambda link: changes.append(tuple(tool.name for tool in link.catalog.tools)),
    )
    servers.get("s").call_tool("echo", {}, Cancel())
    assert until(lambda: changes[-1] == ("shout",))


def test_a_failed_refresh_keeps_the_catalog(connect: Connect, tmp_path: Path) -> None:
    fickle = """
def call(request, name, arguments):
    global tools_list
    tools_list = lambda request: refuse(request, -32603, "not now")
    send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
    answer(request, text("ok"))
"""
    changes: list[object] = []
    servers = connect(stdio(tmp_path, "s", fickle), changed=changes.append)
    before = len(changes)
    servers.get("s").call_tool("echo", {}, Cancel())
    assert until(lambda: len(changes) > before)
    assert [tool.name for tool in servers.get("s").catalog.tools] == ["echo"]
    assert "could not be fetched" in servers.findings()[0].message


def test_twenty_servers_at_once(connect: Connect, tmp_path: Path) -> None:
    def entry(number: int) -> Entry:
        crash = "def call(request, name, arguments): os._exit(9)\n" if number % 4 == 0 else ""
        return stdio(tmp_path, f"s{number}", WITH_PID + crash)

    servers = connect(*map(entry, range(20)), wait=60)
    assert {status.state for status in servers.statuses()} == {"connected"}
    pids = [pid_of(servers, name) for name in servers.names()]
    for number in range(20):
        if number % 4:
            assert not servers.get(f"s{number}").call_tool("x", {"n": number}, Cancel()).is_error
        else:
            assert fails(servers, f"s{number}").kind == "gone"
    began = time.monotonic()
    servers.close(3.0)
    assert time.monotonic() - began < 5
    assert [pid for pid in pids if is_running(pid)] == []


def test_a_server_that_ignores_the_end(connect: Connect, tmp_path: Path) -> None:
    stubborn = WITH_PID + "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    stubborn += "plain = serve\ndef serve():\n plain()\n while True: time.sleep(1)"
    servers = connect(stdio(tmp_path, "s", stubborn))
    pid = pid_of(servers, "s")
    began = time.monotonic()
    servers.close(4.0)
    assert time.monotonic() - began < 5
    assert not is_running(pid)


def test_a_server_that_does_not_read(connect: Connect, tmp_path: Path) -> None:
    deaf = WITH_PID + "def call(*request): time.sleep(60)"
    servers = connect(stdio(tmp_path, "deaf", deaf, times=impatient(call=1.0)), stdio(tmp_path, "good"))
    pid = pid_of(servers, "deaf")
    for _ in range(3):
        began = time.monotonic()
        with pytest.raises(ServerFailure) as failed:
            servers.get("deaf").call_tool("echo", {"much": "x" * (1 << 20)}, Cancel())
        assert failed.value.kind == "timeout"
        assert time.monotonic() - began < 2
    assert not servers.get("good").call_tool("echo", {}, Cancel()).is_error
    began = time.monotonic()
    servers.close(3.0)
    assert time.monotonic() - began < 4
    assert not is_running(pid)


def test_a_flood_on_standard_error(connect: Connect, tmp_path: Path) -> None:
    flood = "def call(request, *more):\n for _ in range(100): sys.stderr.write('e' * (1 << 20))\n"
    flood += " print('\\nlast words', file=sys.stderr)\n sys.stderr.flush()\n os._exit(1)"
    failed = fails(connect(stdio(tmp_path, "s", flood)), "s")
    assert "status 1: last words" in failed.message


def test_output_before_the_handshake(connect: Connect, tmp_path: Path) -> None:
    banner = "print('Welcome to my server!'); print('\\xff\\xfe'); sys.stdout.buffer.write(b'\\xff\\n')"
    assert connect(stdio(tmp_path, "s", banner)).get("s").status.state == "connected"


def test_a_server_that_ends_with_children(connect: Connect, spawner: Spawner, tmp_path: Path) -> None:
    forks = "import subprocess\nchild = subprocess.Popen(['sleep', '60'])\n"
    forks += "TOOLS = [{'name': f'pid{child.pid}', 'inputSchema': {}}]"
    servers = connect(stdio(tmp_path, "s", forks))
    child = pid_of(servers, "s")
    assert is_running(child)
    servers.close(3.0)
    spawner.close()
    assert not is_running(child)
