"""The server on loopback: who may use it, and what a hostile client can't do to the others."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx2
import mcp_types as types
import pytest

from checkrein.passes.load import load
from checkrein.runtime.session.options import Options
from checkrein.serve.mcp.http import PATH, listening, make_http
from checkrein.serve.mcp.kitchen import CLOSE, OPEN
from checkrein.serve.mcp.server import make_server
from checkrein.serve.mcp.visit import Served
from support.files import lay
from support.full_server import entry
from support.mcp_guests import Guest, text

TOKEN = "a-token-of-the-test-0123456789"
ACCEPT = "application/json, text/event-stream"


@pytest.fixture
def address(project: Path) -> Iterator[str]:
    """Where the served project listens."""
    with listened(Served(project=load(str(project)), options=Options(kind="sdk", persist=False))) as where:
        yield where


@contextmanager
def listened(served: Served) -> Iterator[str]:
    bound = listening(0)
    http = make_http(make_server(served), TOKEN)
    thread = threading.Thread(target=lambda: asyncio.run(http.serve(sockets=[bound])))
    thread.start()
    yield f"http://127.0.0.1:{bound.getsockname()[1]}"
    http.should_exit = True
    thread.join(30)
    assert not thread.is_alive()


def body(method: str, id: int | None = 1, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method, "params": params, **({"id": id} if id is not None else {})}


INITIALIZE = body(
    "initialize",
    protocolVersion="2025-06-18",
    capabilities={},
    clientInfo={"name": "test", "version": "1"},
)


def headers(**more: str) -> dict[str, str]:
    return {"Accept": ACCEPT, "Authorization": f"Bearer {TOKEN}", **more}


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({}, 200),
        ({"Authorization": ""}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": f"Basic {TOKEN}"}, 401),
        ({"Authorization": f"Bearer {TOKEN}x"}, 401),
        ({"Authorization": f"bearer {TOKEN}"}, 401),
        ({"Origin": "http://localhost:3000"}, 200),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://localhost.evil.example"}, 403),
        ({"Origin": "http://localhost@evil.example"}, 403),
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example:80"}, 421),
        ({"Host": "localhost"}, 200),
    ],
)
def test_who_may_use_it(address: str, changed: dict[str, str], status: int) -> None:
    given = headers(**changed)
    if not given["Authorization"]:
        del given["Authorization"]
    answer = httpx2.post(f"{address}{PATH}", json=INITIALIZE, headers=given)
    assert answer.status_code == status
    if status == 401:
        assert answer.headers["www-authenticate"].startswith("Bearer")
        assert TOKEN not in answer.text


def test_there_is_one_path(address: str) -> None:
    with httpx2.Client() as client:
        for path in ("/", "/mcp/../etc/passwd", "/mcp/%2e%2e/x", "//mcp", "/docs", "/mcp/x"):
            request = client.build_request("POST", f"{address}{path}", json=INITIALIZE, headers=headers())
            assert client.send(request).status_code in (307, 404), path


def test_a_client_of_the_newest_protocol_hears_of_the_handshake(address: str) -> None:
    from mcp.client import Client
    from mcp.client.streamable_http import streamable_http_client

    async def meet() -> tuple[str, list[str]]:
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}) as http,
            Client(streamable_http_client(f"{address}{PATH}", http_client=http)) as client,
        ):
            return client.protocol_version, [one.name for one in (await client.list_tools()).tools]

    version, names = asyncio.run(meet())
    assert version == "2025-11-25"
    assert names == [OPEN, CLOSE, "disable_quota_guard"]


def test_the_gateway_greets_asks_and_tells_of_changes(project: Path, tmp_path: Path) -> None:
    from mcp.client import Client
    from mcp.client.streamable_http import streamable_http_client

    lay(Path.home(), {".claude.json": {"mcpServers": {"full": entry(tmp_path)}}})
    options = Options(kind="sdk", persist=False)
    guest = Guest("allow")

    async def meet(address: str) -> str | None:
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"}) as http,
            Client(
                streamable_http_client(f"{address}{PATH}", http_client=http),
                message_handler=guest.listen,
                elicitation_callback=guest.elicited,
            ) as guest.client,
        ):
            assert text(await guest.call("grow")) == "grown"
            for _ in range(100):
                if "grown" in await guest.names() and guest.heard:
                    break
                await asyncio.sleep(0.05)
            return guest.client.instructions

    with listened(Served(project=load(str(project)), options=options, through=("full",))) as address:
        said = asyncio.run(meet(address))
    assert said is not None
    assert said.startswith("Instructions of the MCP server full:")
    assert len(guest.asked) == 1
    assert any(isinstance(one, types.ToolListChangedNotification) for one in guest.heard)


class Caller:
    """A client with as little of its own as possible."""

    def __init__(self, http: httpx2.AsyncClient, url: str) -> None:
        self.http = http
        self.url = url
        self.given = headers()

    async def start(self) -> None:
        answer = await self.http.post(self.url, json=INITIALIZE, headers=self.given)
        self.given = headers(**{"Mcp-Session-Id": answer.headers["mcp-session-id"]})
        await self.http.post(self.url, json=body("notifications/initialized", None), headers=self.given)

    async def ask(self, method: str, **params: Any) -> Any:
        answer = await self.http.post(self.url, json=body(method, 2, **params), headers=self.given)
        assert answer.status_code == 200, answer.text
        events = [line[6:] for line in answer.text.splitlines() if line.startswith("data: ") and line[6:]]
        return next(one["result"] for one in map(json.loads, events) if one.get("id") == 2)

    async def names(self) -> list[str]:
        return [one["name"] for one in (await self.ask("tools/list"))["tools"]]


@pytest.mark.untraced
@pytest.mark.parametrize("clients", [12, pytest.param(100, marks=pytest.mark.campaign)])
def test_clients_are_served_beside_a_hostile_one(address: str, clients: int) -> None:
    if clients > 12 and not os.environ.get("CHECKREIN_CAMPAIGN"):
        pytest.skip("a long run")
    url = f"{address}{PATH}"

    async def guest(http: httpx2.AsyncClient, number: int) -> bool:
        caller = Caller(http, url)
        await caller.start()
        before = await caller.names()
        if number % 2:
            await caller.ask("tools/call", name=OPEN, arguments={})
        after = await caller.names()
        assert before == [OPEN, CLOSE, "disable_quota_guard"]
        return len(after) > len(before)

    async def hostile(http: httpx2.AsyncClient, over: asyncio.Event) -> set[int]:
        seen: set[int] = set()
        attacks: list[dict[str, Any]] = [
            {"headers": headers(Authorization="Bearer wrong"), "json": INITIALIZE},
            {"headers": headers(Origin="http://evil.example"), "json": INITIALIZE},
            {"headers": headers(Host="evil.example"), "json": INITIALIZE},
            {"headers": headers(**{"Mcp-Session-Id": "../../etc/passwd"}), "json": body("tools/list")},
            {"headers": headers(**{"Mcp-Session-Id": "0" * 32}), "json": body("tools/list")},
            {"headers": headers(), "content": b"x" * (5 << 20)},
            {"headers": headers(), "content": b"[" * 100_000},
            {"headers": headers(), "json": {"jsonrpc": "2.0"}},
        ]
        while not over.is_set():
            answers = await asyncio.gather(*(http.post(url, **one) for one in attacks))
            seen |= {one.status_code for one in answers}
            await asyncio.sleep(0.05)
        return seen

    async def meet() -> tuple[list[bool], set[int]]:
        limits = httpx2.Limits(max_connections=None)
        async with (
            httpx2.AsyncClient(limits=limits, timeout=60) as http,
            httpx2.AsyncClient(limits=limits, timeout=60) as other,
        ):
            over = asyncio.Event()
            attacker = asyncio.create_task(hostile(other, over))
            opened = await asyncio.gather(*(guest(http, number) for number in range(clients)))
            over.set()
            return opened, await attacker

    opened, seen = asyncio.run(meet())
    assert opened == [bool(number % 2) for number in range(clients)]
    assert 200 not in seen
    assert {401, 403, 421} <= seen
    assert not {status for status in seen if status >= 500}


def test_a_broken_stream_brings_nothing_of_another_client(address: str) -> None:
    """Clients count their requests from the same number, and a stream has the number of its request."""
    version = {"Mcp-Protocol-Version": "2025-11-25"}
    opening = body(**{**INITIALIZE["params"], "protocolVersion": "2025-11-25"}, method="initialize", id=0)
    with httpx2.Client(timeout=20) as client:

        def opened() -> dict[str, str]:
            answer = client.post(f"{address}{PATH}", json=opening, headers=headers())
            known = headers(**version, **{"Mcp-Session-Id": answer.headers["mcp-session-id"]})
            client.post(f"{address}{PATH}", json=body("notifications/initialized", None), headers=known)
            return known

        def call(known: dict[str, str], tool: str) -> str:
            asked = body("tools/call", 5, name=tool, arguments={})
            return client.post(f"{address}{PATH}", json=asked, headers=known).text

        first, second = opened(), opened()
        lines = call(first, CLOSE).splitlines()
        begun = next(line.removeprefix("id: ") for line in lines if line.startswith("id: "))
        call(second, OPEN)
        call(first, "nothing")
        seen = ""
        with client.stream("GET", f"{address}{PATH}", headers={**first, "Last-Event-ID": begun}) as stream:
            for text_ in stream.iter_text():
                seen += text_
                if "no tool" in seen:
                    break
    assert "closed" in seen
    assert "kitchen_id" not in seen


def test_connections_that_say_nothing_make_room(address: str) -> None:
    port = int(address.rpartition(":")[2])
    head = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9"
    halves = [b"", head, head + b"\r\nAuthorization: Bearer wrong\r\n\r\n"]
    with ExitStack() as stack:
        silent = []
        for number in range(300):
            one = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20))
            one.sendall(halves[number % 3])
            silent.append(one)
        assert httpx2.post(f"{address}{PATH}", json=INITIALIZE, headers=headers()).status_code == 200
        with suppress(ConnectionResetError):
            assert silent[0].recv(1) == b"", "the first had to go"
        silent[-2].settimeout(0.05)
        with pytest.raises(TimeoutError):
            silent[-2].recv(1)
