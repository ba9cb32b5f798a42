"""Remote servers: headers, logins, faults that pass, and answers that never end."""

from __future__ import annotations

import json
import resource
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from checkrein.llm.cancel import Cancel
from checkrein.runtime.mcp.connection import ServerFailure
from checkrein.runtime.mcp.needs import Delays
from checkrein.runtime.process.spawner import Spawner
from support.mcp_http import Exchange, HttpServer, http_server
from support.mcp_servers import impatient, until

from .conftest import Connect

SOON = Delays(connect=(0.05, 0.05), reconnect=(0.05, 0.1, 0.2, 0.4, 0.8), listing=(0.01,) * 3)


@pytest.fixture
def far() -> Iterator[HttpServer]:
    with http_server() as server:
        yield server


def test_connect_list_and_call(connect: Connect, far: HttpServer) -> None:
    servers = connect(far.entry(headers={"X-Team": "blue", "Accept": "nothing"}))
    link = servers.get("far")
    assert link.status.state == "connected", link.status
    assert link.call_tool("echo", {"a": 1}, Cancel()).content[0]["text"] == '{"a": 1}'
    assert {one.headers.get("x-team") for one in far.seen} == {"blue"}
    assert {one.headers["accept-encoding"] for one in far.seen} == {"identity"}
    assert far.seen[0].asked == "server/discover"
    assert "nothing" not in {one.headers["accept"] for one in far.seen}


def test_the_older_transport(connect: Connect, far: HttpServer) -> None:
    far.rule = far.older
    servers = connect(far.entry(transport="sse"), delays=SOON)
    assert servers.get("far").status.state == "connected", servers.statuses()
    assert not servers.get("far").call_tool("echo", {}, Cancel()).is_error
    assert {one.asked for one in far.seen}.isdisjoint({"server/discover"})
    far.events.put(None)
    assert until(lambda: [one.method for one in far.seen].count("GET") == 2)
    assert until(lambda: servers.get("far").status.state == "connected")


def test_an_older_server_that_refuses_a_message(connect: Connect, far: HttpServer) -> None:
    far.rule = lambda one: one.reply(500) if one.asked == "tools/call" else far.older(one)
    servers = connect(far.entry(transport="sse"), delays=SOON)
    began = time.monotonic()
    with pytest.raises(ServerFailure, match="HTTP status 500"):
        servers.get("far").call_tool("echo", {}, Cancel())
    assert time.monotonic() - began < 5


def test_web_sockets_are_refused(connect: Connect, far: HttpServer) -> None:
    problem = "The transport `ws` is not supported by Checkrein; use `http`."
    servers = connect(far.entry(transport="ws", problem=problem))
    assert (servers.get("far").status.state, servers.get("far").status.error) == ("failed", problem)
    assert far.seen == []


@pytest.mark.parametrize("transport", ["http", "sse"])
@pytest.mark.parametrize("status", [401, 403])
def test_a_login_is_needed(connect: Connect, far: HttpServer, transport: str, status: int) -> None:
    far.rule = lambda one: one.reply(status)
    found = connect(far.entry(transport=transport), delays=SOON).get("far")
    assert found.status.state == "needs-auth"
    assert "`checkrein mcp login far`" in (found.status.error or "")
    with pytest.raises(ServerFailure) as failed:
        found.call_tool("echo", {}, Cancel())
    assert failed.value.kind == "needs_auth"


def test_a_configured_authorization_needs_no_login(connect: Connect, far: HttpServer) -> None:
    asked: list[object] = []
    far.rule = lambda one: one.reply(401)
    entry = far.entry(headers={"authorization": "Bearer x"})
    status = connect(entry, auth=lambda entry: asked.append(entry)).get("far").status
    assert status.state == "failed"
    assert "refuses the configured `Authorization`" in (status.error or "")
    assert asked == []


def test_a_login_that_ends_in_mid_session(connect: Connect, far: HttpServer) -> None:
    servers = connect(far.entry())
    far.rule = lambda one: one.reply(401) if one.asked == "tools/call" else False
    with pytest.raises(ServerFailure) as failed:
        servers.get("far").call_tool("echo", {}, Cancel())
    assert failed.value.kind == "needs_auth"
    assert servers.get("far").status.state == "needs-auth"
    far.rule = lambda one: False
    servers.get("far").call_tool("echo", {}, Cancel())
    assert servers.get("far").status.state == "connected"


def test_the_first_connect_tries_three_times(connect: Connect, far: HttpServer) -> None:
    far.rule = lambda one: one.reply(503)
    status = connect(far.entry(), delays=SOON).get("far").status
    assert status.state == "failed"
    assert "HTTP status 503" in (status.error or "")
    assert [one.asked for one in far.seen].count("initialize") == 3


def test_a_wrong_address_is_tried_once(connect: Connect, far: HttpServer) -> None:
    far.rule = lambda one: one.reply(404)
    status = connect(far.entry(), delays=SOON).get("far").status
    assert "HTTP status 404" in (status.error or "")
    assert [one.asked for one in far.seen].count("initialize") == 1


def test_nobody_listens(connect: Connect) -> None:
    with http_server() as gone:
        entry = gone.entry()
    status = connect(entry, delays=SOON).get("far").status
    assert status.state == "failed"
    assert "could not be reached" in (status.error or "")


def test_a_list_is_fetched_again_after_a_fault_that_passes(connect: Connect, far: HttpServer) -> None:
    failed: list[int] = []

    def twice(one: Exchange) -> bool:
        if one.asked == "tools/list" and len(failed) < 2:
            failed.append(1)
            return one.reply(502)
        return False

    far.rule = twice
    assert connect(far.entry(), delays=SOON).get("far").status.state == "connected"
    assert len(failed) == 2


def with_sessions(known: list[str]) -> object:
    def rule(one: Exchange) -> bool:
        if one.method != "POST" or one.asked in ("", "server/discover"):
            return False
        if one.asked == "initialize":
            known.append(f"s{len(known)}")
            return one.answer(one.server.result(one) or {}, mcp_session_id=known[-1])
        return one.headers.get("mcp-session-id") != known[-1] and one.reply(404)

    return rule


def test_a_forgotten_session_begins_again(connect: Connect, far: HttpServer) -> None:
    known: list[str] = []
    far.rule = with_sessions(known)  # type: ignore[assignment]
    servers = connect(far.entry(), delays=Delays(reconnect=(30.0,)))
    known.append("another")
    began = time.monotonic()
    assert not servers.get("far").call_tool("echo", {}, Cancel()).is_error
    assert time.monotonic() - began < 10
    assert known == ["s0", "another", "s2"]


def test_one_request_fails_alone(connect: Connect, far: HttpServer) -> None:
    servers = connect(far.entry(times=impatient(first_byte=0.5)))

    def slow(one: Exchange) -> bool:
        if one.message.get("params", {}).get("arguments") == {"slow": 1}:
            time.sleep(2)
        return False

    far.rule = slow
    with pytest.raises(ServerFailure, match="did not begin to answer") as failed:
        servers.get("far").call_tool("echo", {"slow": 1}, Cancel())
    assert failed.value.kind == "timeout"
    assert servers.get("far").status.state == "connected"
    assert not servers.get("far").call_tool("echo", {}, Cancel()).is_error


def test_a_flood_of_100_mb(connect: Connect, far: HttpServer) -> None:
    def flood(one: Exchange) -> bool:
        if one.asked != "tools/call":
            return False
        one.handler.send_response(200)
        one.handler.send_header("content-type", "application/json")
        one.handler.send_header("content-length", str(100 << 20))
        one.handler.end_headers()
        for _ in range(100):
            one.handler.wfile.write(b" " * (1 << 20))
        return True

    far.rule = flood
    servers = connect(far.entry())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ServerFailure, match="longer than 32 MB"):
        servers.get("far").call_tool("echo", {}, Cancel())
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 120 << 10


def test_a_compressed_bomb(connect: Connect, far: HttpServer) -> None:
    def bomb(one: Exchange) -> bool:
        return one.asked == "tools/call" and one.reply(
            200, b"x", content_type="application/json", content_encoding="gzip"
        )

    far.rule = bomb
    servers = connect(far.entry())
    with pytest.raises(ServerFailure, match="compressed"):
        servers.get("far").call_tool("echo", {}, Cancel())


def test_headers_never_follow_to_another_host(connect: Connect, far: HttpServer) -> None:
    with http_server() as thief:
        far.rule = lambda one: one.reply(307, location=thief.url())
        status = connect(far.entry(headers={"X-Key": "secret"}), delays=SOON).get("far").status
        assert status.state == "failed"
        assert "not followed" in (status.error or "")
        assert thief.seen == []


def test_the_headers_helper(connect: Connect, far: HttpServer, tmp_path: Path) -> None:
    helper = tmp_path / "helper"
    helper.write_text(
        f"#!/bin/sh\necho x >> {tmp_path}/runs\nn=$(wc -l < {tmp_path}/runs)\n"
        'echo "{\\"X-Key\\": \\"k$((n))\\", \\"X-For\\": \\"$CLAUDE_CODE_MCP_SERVER_NAME$GITHUB_TOKEN\\"}"\n'
    )
    helper.chmod(0o755)
    valid = ["k1"]
    far.rule = lambda one: one.headers.get("x-key") not in valid and one.reply(401)
    env = {"PATH": "/usr/bin:/bin", "GITHUB_TOKEN": "secret"}
    entry = far.entry(headers={"x-key": "old"}, headers_helper=str(helper), env=env, cwd=str(tmp_path))
    servers = connect(entry)
    assert servers.get("far").status.state == "connected", servers.statuses()
    assert far.seen[-1].headers["x-for"] == "far"
    valid[:] = ["k2"]
    assert not servers.get("far").call_tool("echo", {}, Cancel()).is_error
    assert (tmp_path / "runs").read_text().count("x") == 2


def test_a_broken_headers_helper(connect: Connect, far: HttpServer) -> None:
    servers = connect(far.entry(headers={"x-key": "own"}, headers_helper="echo no; exit 0"))
    assert servers.get("far").status.state == "connected"
    assert far.seen[0].headers["x-key"] == "own"
    assert [finding.code for finding in servers.findings()] == ["RUNMCP002"]


def test_twenty_remote_servers(connect: Connect, far: HttpServer) -> None:
    far.rule = lambda one: time.sleep(0.1) is not None
    servers = connect(*(far.entry(f"s{number}") for number in range(20)))
    assert {status.state for status in servers.statuses()} == {"connected"}
    began = time.monotonic()
    servers.close(3.0)
    assert time.monotonic() - began < 4


def test_close_does_not_wait_for_a_hanging_server(connect: Connect, far: HttpServer) -> None:
    known: list[str] = []
    sessions = with_sessions(known)
    servers = None

    def hang(one: Exchange) -> bool:
        if one.method == "DELETE":
            time.sleep(10)
        return sessions(one)  # type: ignore[no-any-return, operator]

    far.rule = hang
    servers = connect(far.entry())
    assert servers.get("far").status.state == "connected"
    began = time.monotonic()
    servers.close(3.0)
    assert time.monotonic() - began < 4
    assert json.dumps(known) == '["s0"]'


def test_a_server_that_comes_back(connect: Connect) -> None:
    with http_server() as first:
        servers = connect(first.entry(), delays=Delays(reconnect=(0.1, 0.2, 0.4, 0.8, 1.6)))
        assert servers.get("far").status.state == "connected"
    with pytest.raises(ServerFailure, match="could not be reached") as failed:
        servers.get("far").call_tool("echo", {}, Cancel())
    assert failed.value.kind == "gone"
    assert until(lambda: servers.get("far").status.state == "pending")
    with pytest.raises(ServerFailure, match="not connected yet"):
        servers.get("far").call_tool("echo", {}, Cancel())
    with http_server(first.port):
        assert until(lambda: servers.get("far").status.state == "connected")
        assert not servers.get("far").call_tool("echo", {}, Cancel()).is_error


def test_a_server_that_stays_away(connect: Connect) -> None:
    with http_server() as first:
        servers = connect(first.entry(), delays=Delays(reconnect=(0.2, 0.3)))
    with pytest.raises(ServerFailure):
        servers.get("far").call_tool("echo", {}, Cancel())
    began = time.monotonic()
    assert until(lambda: servers.get("far").status.state == "failed")
    assert 0.4 < time.monotonic() - began < 3
    assert [tool.name for tool in servers.get("far").catalog.tools] == ["echo"]


def test_a_server_that_connects_and_drops_for_ever(connect: Connect, far: HttpServer) -> None:
    def drop(one: Exchange) -> bool:
        if one.asked == "tools/list":
            far.older(one)
            far.events.put(None)
            return True
        return far.older(one)

    far.rule = drop
    servers = connect(far.entry(transport="sse"), delays=Delays(reconnect=(0.05, 0.05)))
    assert until(lambda: servers.get("far").status.state == "failed")
    assert [one.method for one in far.seen].count("GET") <= 4


def test_an_untrusted_helper_leaves_the_static_headers(connect: Connect, far: HttpServer) -> None:
    with Spawner(lambda origin: False) as strict:
        servers = connect(far.entry(headers={"x-key": "own"}, headers_helper="echo {}"), runs=strict.run)
        assert servers.get("far").status.state == "connected"
    assert far.seen[0].headers["x-key"] == "own"
    assert "is not trusted" in servers.findings()[0].message
