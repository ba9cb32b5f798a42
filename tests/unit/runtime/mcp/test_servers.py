"""The set of servers: how they start, wait, change and end."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from checkrein.base.errors import PolicyError
from checkrein.base.origin import Origin
from checkrein.llm.cancel import Cancel
from checkrein.runtime.mcp.connection import ServerFailure
from checkrein.runtime.mcp.needs import Needs
from checkrein.runtime.mcp.servers import Servers
from checkrein.runtime.process.spawner import Spawner
from support.mcp_servers import impatient, is_running, stdio, until

from .conftest import Connect

WITH_PID = "TOOLS = [{'name': f'pid{os.getpid()}', 'inputSchema': {'type': 'object'}}]\n"


def pids(servers: Servers) -> list[int]:
    return [int(one.catalog.tools[0].name[3:]) for one in servers.connections() if one.catalog.tools]


def test_start_does_not_wait(connect: Connect, tmp_path: Path) -> None:
    servers = connect(stdio(tmp_path, "slow", "time.sleep(1)"), wait=0.0)
    link = servers.get("slow")
    assert link.status.state == "pending"
    with pytest.raises(ServerFailure, match="is not connected yet") as failed:
        link.call_tool("echo", {}, Cancel())
    assert failed.value.kind == "gone"
    assert [status.state for status in servers.wait(["slow", "unknown"], 20)] == ["connected"]


def test_a_wait_ends_with_its_cancel(connect: Connect, tmp_path: Path) -> None:
    servers = connect(stdio(tmp_path, "slow", "time.sleep(30)"), wait=0.0)
    cancel = Cancel()
    threading.Timer(0.2, cancel.cancel).start()
    began = time.monotonic()
    assert servers.wait(["slow"], 20, cancel)[0].state == "pending"
    assert time.monotonic() - began < 5


def test_three_stdio_servers_connect_at_once(connect: Connect, tmp_path: Path) -> None:
    mark = "open(f'{sys.argv[0]}.began', 'w').close(); time.sleep(0.6)"
    servers = connect(*(stdio(tmp_path, f"s{number}", mark) for number in range(5)), wait=0.0)
    most = 0

    def busy() -> bool:
        nonlocal most
        done = sum(status.state == "connected" for status in servers.statuses())
        most = max(most, len(list(tmp_path.glob("*.began"))) - done)
        return done == 5

    assert until(busy, 30)
    assert 2 <= most <= 3


def test_off_on_and_off_again(spawner: Spawner, tmp_path: Path) -> None:
    servers = Servers([stdio(tmp_path, "s", WITH_PID)], Needs(open=spawner.open), {"s": "It needs approval."})
    servers.start(["s"], 1.0)
    status = servers.get("s").status
    assert (status.state, status.error) == ("disabled", "It needs approval.")
    with pytest.raises(ServerFailure, match=r"switched off. It needs approval"):
        servers.get("s").call_tool("echo", {}, Cancel())
    servers.toggle("s", True)
    assert servers.wait(["s"], 20)[0].state == "connected"
    (pid,) = pids(servers)
    assert servers.toggle("s", False).state == "disabled"
    assert not is_running(pid)
    assert servers.toggle("unknown", True) is None
    servers.close()


def test_added_removed_and_replaced(connect: Connect, tmp_path: Path) -> None:
    servers = connect(stdio(tmp_path, "a", WITH_PID))
    servers.add(stdio(tmp_path, "b", WITH_PID))
    assert servers.wait(["b"], 20)[0].state == "connected"
    first, second = pids(servers)
    servers.remove("b")
    assert servers.names() == ("a",)
    assert not is_running(second)
    servers.add(stdio(tmp_path, "a", WITH_PID))
    assert servers.wait(["a"], 20)[0].state == "connected"
    assert not is_running(first)
    assert pids(servers) != [first]


def test_reconnect(connect: Connect, tmp_path: Path) -> None:
    servers = connect(stdio(tmp_path, "s", WITH_PID))
    before = pids(servers)
    assert servers.reconnect("s").state == "connected"
    assert pids(servers) != before
    assert not is_running(before[0])
    assert servers.reconnect("unknown") is None


def test_close_while_servers_connect(connect: Connect, tmp_path: Path) -> None:
    silent = "open(f'{sys.argv[0]}.pid', 'w').write(str(os.getpid()))\ndef initialize(request): pass"
    servers = connect(*(stdio(tmp_path, f"s{number}", silent) for number in range(6)), wait=0.0)
    assert until(lambda: len(list(tmp_path.glob("*.pid"))) == 3, 20)
    began = time.monotonic()
    servers.close(3.0)
    assert time.monotonic() - began < 4
    left = [int(file.read_text() or 0) for file in tmp_path.glob("*.pid")]
    assert len(left) == 3
    assert [pid for pid in left if is_running(pid)] == []


def test_close_ends_a_waiting_call(connect: Connect, tmp_path: Path) -> None:
    servers = connect(stdio(tmp_path, "s", "def call(*request): time.sleep(60)"))
    raised: list[ServerFailure] = []

    def call() -> None:
        try:
            servers.get("s").call_tool("echo", {}, Cancel())
        except ServerFailure as failure:
            raised.append(failure)

    thread = threading.Thread(target=call)
    thread.start()
    time.sleep(0.3)
    servers.close(3.0)
    thread.join(2)
    assert [failure.kind for failure in raised] == ["gone"]


def test_an_untrusted_server_never_starts(tmp_path: Path) -> None:
    with Spawner(lambda origin: origin.scope != "project") as spawner:
        trusted = replace(stdio(tmp_path, "mine"), origin=Origin("/home/.claude.json", "user"))
        servers = Servers([stdio(tmp_path, "theirs"), trusted], Needs(open=spawner.open))
        servers.start(["mine", "theirs"], 20)
        assert servers.get("mine").status.state == "connected"
        assert servers.get("theirs").status.state == "failed"
        assert "checkrein trust" in (servers.get("theirs").status.error or "")
        servers.close()


def test_many_threads_use_one_server(connect: Connect, tmp_path: Path) -> None:
    link = connect(stdio(tmp_path, "s")).get("s")
    said: list[str] = []

    def call(number: int) -> None:
        for step in range(10):
            arguments = {"n": number, "step": step}
            said.append(
                link.call_tool("echo", arguments, Cancel()).content[0]["text"]
                == repr(arguments).replace("'", '"')
            )  # type: ignore[arg-type]

    threads = [threading.Thread(target=call, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert said == [True] * 80


def test_no_thread_and_no_descriptor_is_left(connect: Connect, tmp_path: Path, spawner: Spawner) -> None:
    def use() -> None:
        servers = connect(*(stdio(tmp_path, f"s{number}") for number in range(3)))
        assert not servers.get("s0").call_tool("echo", {}, Cancel()).is_error
        servers.close(3.0)

    def open_things() -> int:
        return len(list(Path("/proc/self/fd").iterdir())) + threading.active_count()

    use()
    before = open_things()
    for _ in range(3):
        use()
    assert until(lambda: open_things() <= before, 5), (before, open_things(), threading.enumerate())


def test_a_server_in_this_process(connect: Connect, tmp_path: Path) -> None:
    from checkrein.runtime.mcp.memory_transport import MemoryTransport

    def talk(message: dict[str, Any]) -> Iterable[dict[str, Any]]:
        results: dict[str, Any] = {
            "initialize": {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "inner", "version": "1"},
            },
            "tools/list": {"tools": [{"name": "t", "inputSchema": {}}]},
            "tools/call": {"content": [], "structuredContent": {"ok": True}},
        }
        if message.get("method") in results:
            yield {"jsonrpc": "2.0", "id": message["id"], "result": results[message["method"]]}

    entry = stdio(tmp_path, "inner", transport="memory", argv=())
    servers = connect(entry, transport=lambda entry: MemoryTransport(talk), open=None)
    assert servers.get("inner").status.state == "connected", servers.statuses()
    assert servers.get("inner").call_tool("t", {}, Cancel()).structured == {"ok": True}


def test_a_transport_that_nobody_knows(connect: Connect, tmp_path: Path) -> None:
    status = connect(stdio(tmp_path, "s", transport="memory"), open=None).get("s").status
    assert (status.state, "Nothing can start" in (status.error or "")) == ("failed", True)


def test_a_factory_that_breaks(connect: Connect, tmp_path: Path) -> None:
    def broken(entry: object) -> None:
        raise PolicyError("no way", kind="x")

    status = connect(stdio(tmp_path, "s", times=impatient(startup=5.0)), transport=broken).get("s").status
    assert (status.state, "no way" in (status.error or "")) == ("failed", True)


def test_close_right_after_the_start(connect: Connect, tmp_path: Path) -> None:
    begun = "open(f'{sys.argv[0]}.pid', 'w').write(str(os.getpid()))"
    for number in range(5):
        servers = connect(stdio(tmp_path, f"s{number}", begun), wait=0.0)
        time.sleep(number * 0.02)
        servers.close(2.0)
    time.sleep(0.3)
    left = [int(file.read_text() or 0) for file in tmp_path.glob("*.pid")]
    assert [pid for pid in left if is_running(pid)] == []


def test_after_the_end_nothing_starts(connect: Connect, tmp_path: Path) -> None:
    servers = connect(wait=0.0)
    servers.close(1.0)
    servers.add(stdio(tmp_path, "late"))
    with pytest.raises(ServerFailure):
        servers.get("late").call_tool("echo", {}, Cancel())
