"""Servers that never stop, or talk to nobody: what they send costs little and changes nothing."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from checkrein.llm.cancel import Cancel
from checkrein.runtime.mcp.connection import ServerFailure
from support.mcp_servers import impatient, stdio, until

from .conftest import Connect

BEGUN = """
import threading
def begun(work):
    global other
    def other(request):
        if request.get("method") == "notifications/initialized":
            threading.Thread(target=work, daemon=True).start()
"""

STORM = f"""{BEGUN}
LISTS = []
def tools_list(request):
    LISTS.append(time.monotonic())
    new = {{"name": f"t{{len(LISTS)}}", "inputSchema": {{"type": "object"}}}}
    answer(request, {{"tools": [*TOOLS, new]}})
def call(request, name, arguments):
    answer(request, text(str(len(LISTS))))
def storm():
    end = time.monotonic() + 4
    while time.monotonic() < end:
        for _ in range(10):
            send({{"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}})
        time.sleep(0.01)
begun(storm)
"""


def test_a_storm_of_changes_is_fetched_less_and_less(connect: Connect, tmp_path: Path) -> None:
    link = connect(stdio(tmp_path, "s", STORM)).get("s")
    time.sleep(3)
    began = time.monotonic()
    fetched = int(link.call_tool("echo", {}, Cancel()).content[0]["text"])
    assert time.monotonic() - began < 2
    assert 2 <= fetched <= 8

    def newest() -> bool:
        lists = link.call_tool("echo", {}, Cancel()).content[0]["text"]
        return link.catalog.tools[-1].name == f"t{lists}"

    assert until(newest, 10), "the last change is not lost"


def test_a_huge_description_costs_only_its_tool(connect: Connect, tmp_path: Path) -> None:
    huge = "TOOLS += [{'name': 'huge', 'description': 'x' * (10 << 20), 'inputSchema': {'type': 'object'}}]"
    servers = connect(stdio(tmp_path, "s", huge))
    assert [tool.name for tool in servers.get("s").catalog.tools] == ["echo"]
    assert "`huge` has a definition of 10485" in servers.findings()[0].message


NOBODY = {
    "answers that nobody asked for": """
        for number in (0, -1, 999999, "abc", 10**30, number + 1):
            send({"jsonrpc": "2.0", "id": number, "result": text("forged")})
            send({"jsonrpc": "2.0", "id": number, "error": {"code": 1, "message": "forged"}})
    """,
    "progress of other calls": """
        for token in (0, -1, 999999, "abc", number + 1, None, [], {}):
            send({"jsonrpc": "2.0", "method": "notifications/progress",
                  "params": {"progressToken": token, "progress": 1e308, "message": "forged"}})
    """,
    "garbage": r"""
        sys.stdout.write("\x1b[2J\0\n{}\n[]\nnull\n1e999\n{\"jsonrpc\": 2}\n")
        sys.stdout.write("[" * 50_000 + "\n")
        sys.stdout.flush()
    """,
    "cancellations": """
        for token in (number, 0, "abc", None):
            send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": token}})
    """,
}


@pytest.mark.parametrize("what", NOBODY)
def test_what_nobody_asked_for_changes_nothing(connect: Connect, tmp_path: Path, what: str) -> None:
    changes = f"""
def call(request, name, arguments):
    number = request["id"] if isinstance(request["id"], int) else 0
    if True:{NOBODY[what]}
    answer(request, text("right"))
"""
    heard: list[object] = []
    link = connect(stdio(tmp_path, "s", changes)).get("s")
    for _ in range(3):
        result = link.call_tool("echo", {}, Cancel(), lambda *step: heard.append(step))
        assert result.content[0]["text"] == "right"
    assert heard == []
    assert link.status.state == "connected"


def test_progress_of_other_calls_keeps_no_call_alive(connect: Connect, tmp_path: Path) -> None:
    foreign = """
def call(request, name, arguments):
    for step in range(100):
        send({"jsonrpc": "2.0", "method": "notifications/progress",
              "params": {"progressToken": 4711, "progress": step}})
        time.sleep(0.05)
"""
    link = connect(stdio(tmp_path, "s", foreign, times=impatient(idle=0.5))).get("s")
    began = time.monotonic()
    with pytest.raises(ServerFailure, match="neither an answer nor progress"):
        link.call_tool("echo", {}, Cancel())
    assert time.monotonic() - began < 3


def test_half_a_line_and_then_nothing(connect: Connect, tmp_path: Path) -> None:
    half = """
def call(request, name, arguments):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": text("x" * 100)})[:60])
    sys.stdout.flush()
    time.sleep(60)
"""
    entry = stdio(tmp_path, "s", half, times=impatient(idle=0.5))
    servers = connect(entry, stdio(tmp_path, "good"))
    with pytest.raises(ServerFailure) as failed:
        servers.get("s").call_tool("echo", {}, Cancel())
    assert failed.value.kind == "timeout"
    assert not servers.get("good").call_tool("echo", {}, Cancel()).is_error
    began = time.monotonic()
    servers.close(3.0)
    assert time.monotonic() - began < 4


def test_half_a_line_in_the_handshake(connect: Connect, tmp_path: Path) -> None:
    half = 'def initialize(request):\n sys.stdout.write(\'{"jsonrpc": "2.0", \')\n sys.stdout.flush()'
    status = connect(stdio(tmp_path, "s", half, times=impatient(startup=1.0))).get("s").status
    assert (status.state, "within 1 s" in (status.error or "")) == ("failed", True)
