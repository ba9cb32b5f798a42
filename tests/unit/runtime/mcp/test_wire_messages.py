"""Answers that are strange: read where it is clear what they mean, and else the end of their request."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from checkrein.llm.cancel import Cancel
from checkrein.runtime.mcp.connection import ServerFailure
from support.mcp_http import http_server
from support.mcp_servers import impatient, stdio
from support.programs import slack

from .conftest import Connect

RAW = """
def call(request, name, arguments):
    raw = {raw!r}.replace(b"ID", str(request["id"]).encode())
    sys.stdout.buffer.write(raw + b"\\n")
    sys.stdout.buffer.flush()
"""
TEXT = b'{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"said"}]}}'
DEEP = b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
CLEAR = {
    "half of a character": (TEXT.replace(b"said", rb"cut \ud83d"), "cut \ufffd"),
    "Latin-1": (TEXT.replace(b"said", b"caf\xe9"), "caf\ufffd"),
    "a byte order mark": (b"\xef\xbb\xbf" + TEXT, "said"),
    "a batch": (b"[" + TEXT + b"]", "said"),
    "a number with a point": (TEXT.replace(b"ID", b"ID.0"), "said"),
}
BROKEN = {
    "deep": b'{"jsonrpc":"2.0","id":ID,"result":{"content":[],"structuredContent":' + DEEP + b"}}",
    "deep, and its number last": b'{"result":{"structuredContent":' + DEEP + b'},"jsonrpc":"2.0","id":ID}',
    "a long number": TEXT.replace(b'"said"', b"9" * 5000),
    "cut off": b'{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":',
}


def server(tmp_path: Path, raw: bytes) -> object:
    return stdio(tmp_path, "s", RAW.format(raw=raw), times=impatient(idle=10.0, call=10.0))


@pytest.mark.parametrize("what", CLEAR)
def test_an_answer_with_a_clear_meaning_is_read(connect: Connect, tmp_path: Path, what: str) -> None:
    raw, said = CLEAR[what]
    result = connect(server(tmp_path, raw)).get("s").call_tool("echo", {}, Cancel())
    assert [block["text"] for block in result.content] == [said]


@pytest.mark.parametrize("what", BROKEN)
def test_an_answer_that_can_not_be_read_ends_its_call(connect: Connect, tmp_path: Path, what: str) -> None:
    servers = connect(server(tmp_path, BROKEN[what]))
    with pytest.raises(ServerFailure, match="not a message of MCP") as failed:
        servers.get("s").call_tool("echo", {}, Cancel())
    assert failed.value.kind == "failed"
    assert servers.get("s").status.state == "connected"


@pytest.mark.parametrize("raw", [b"[1, 2", b"{}", b"[[]]", b'{"id": null}', b'{"x":{"id":ID},"y":'])
def test_nonsense_ends_no_call(connect: Connect, tmp_path: Path, raw: bytes) -> None:
    changes = RAW.format(raw=raw) + "    answer(request, text('said'))\n"
    result = connect(stdio(tmp_path, "s", changes)).get("s").call_tool("echo", {}, Cancel())
    assert result.content[0]["text"] == "said"


def test_half_of_a_character_in_a_definition(connect: Connect, tmp_path: Path) -> None:
    changes = r"""
TOOLS[0]["description"] = "cut \ud83d"
"""
    (tool,) = connect(stdio(tmp_path, "s", changes)).get("s").catalog.tools
    assert tool.description == "cut \ufffd"


def test_an_sse_server_that_cuts_a_character(connect: Connect) -> None:
    with http_server() as far:

        def rule(exchange):  # type: ignore[no-untyped-def]
            if exchange.asked != "tools/call":
                return far.older(exchange)
            exchange.reply(202)
            far.events.put(CLEAR["half of a character"][0].replace(b"ID", b"%d" % exchange.message["id"]))
            return True

        far.rule = rule
        servers = connect(far.entry("s", "sse", times=impatient(idle=10.0, call=10.0)))
        result = servers.get("s").call_tool("echo", {}, Cancel())
        assert result.content[0]["text"] == "cut \ufffd"
        servers.close(2.0)
        far.events.put(None)


def test_no_server_can_pretend_that_it_wants_a_login(connect: Connect, tmp_path: Path) -> None:
    raw = (
        b'{"jsonrpc":"2.0","id":ID,"error":{"code":1,"message":"m","data":'
        b'{"checkrein":{"text":"\\u001b[31mrun this","status":401}}}}'
    )
    servers = connect(server(tmp_path, raw))
    with pytest.raises(ServerFailure) as failed:
        servers.get("s").call_tool("echo", {}, Cancel())
    assert failed.value.kind == "failed"
    assert "run this" not in failed.value.message
    assert servers.get("s").status.state == "connected"


def test_very_many_parts_hold_up_nobody(connect: Connect, tmp_path: Path) -> None:
    many = """
def call(request, name, arguments):
    answer(request, {"content": [{"type": "text", "text": ""}] * 300_000})
"""
    servers = connect(stdio(tmp_path, "many", many), stdio(tmp_path, "other"))
    got: list[object] = []
    work = threading.Thread(target=lambda: got.append(servers.get("many").call_tool("echo", {}, Cancel())))
    work.start()
    slowest = 0.0
    while work.is_alive():
        began = time.monotonic()
        servers.get("other").call_tool("echo", {}, Cancel())
        slowest = max(slowest, time.monotonic() - began)
        time.sleep(0.05)
    (result,) = got
    assert len(result.content) == 5_001  # type: ignore[attr-defined]
    assert "295,000 more parts dropped" in result.content[-1]["text"]  # type: ignore[attr-defined]
    assert slowest < 4 + slack()


def test_a_list_that_never_comes_is_a_clear_error(connect: Connect, tmp_path: Path) -> None:
    silent = "def tools_list(request):\n    pass\n"
    servers = connect(stdio(tmp_path, "s", silent, times=impatient(startup=2.0)))
    assert servers.get("s").status.error == "It did not get ready within 2 s."
