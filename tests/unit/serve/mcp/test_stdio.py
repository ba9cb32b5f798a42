"""The server on standard input and output: as a process, and with what a client may write."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from checkrein.passes.load import load
from checkrein.runtime.session.options import Options
from checkrein.serve.mcp.kitchen import CLOSE, OPEN
from checkrein.serve.mcp.server import make_server
from checkrein.serve.mcp.stdio import serve_stdio
from checkrein.serve.mcp.visit import Served
from support.files import lay
from support.full_server import entry

INITIALIZE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


def line(method: str, id: int | None = None, **params: Any) -> bytes:
    message = {"jsonrpc": "2.0", "method": method, "params": params, **({} if id is None else {"id": id})}
    return json.dumps(message).encode() + b"\n"


OPENING = line("initialize", 1, **INITIALIZE) + line("notifications/initialized")


def served(project: Path, written: bytes) -> list[dict[str, Any]]:
    """What the server says to a client that writes all this and closes."""
    inbound, client = os.pipe()
    answers, outbound = os.pipe()

    async def meet() -> None:
        options = Options(kind="sdk", persist=False)
        await serve_stdio(make_server(Served(project=load(str(project)), options=options)), inbound, outbound)

    os.write(client, written)
    os.close(client)
    asyncio.run(meet())
    os.close(outbound)
    with os.fdopen(answers, "rb") as said:
        return [json.loads(one) for one in said]


def test_a_client_that_writes_all_at_once_is_answered(project: Path) -> None:
    said = served(project, OPENING + line("ping", 2) + b"\n" + line("ping", 3))
    assert [one["id"] for one in said if "result" in one] == [1, 2, 3]


@pytest.mark.parametrize("junk", [b"{", b"[]", b'{"jsonrpc": "2.0"}', b"\xff\xfe", b'"x"', b"[" * 5_000])
def test_what_is_no_message_harms_nobody(project: Path, junk: bytes) -> None:
    said = served(project, OPENING + junk + b"\n" + line("ping", 2))
    assert [one["id"] for one in said if "result" in one] == [1, 2]


def test_a_request_before_the_handshake_is_refused(project: Path) -> None:
    said = served(project, line("tools/list", 1) + line("initialize", 2, **INITIALIZE))
    assert ["error" in one for one in said] == [True, False]


def started(project: Path, *words: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "checkrein", "serve", "mcp", "-C", str(project), *words]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@pytest.mark.untraced
def test_a_signal_ends_the_server_and_those_behind_it(project: Path, tmp_path: Path) -> None:
    lay(Path.home(), {".claude.json": {"mcpServers": {"full": entry(tmp_path)}}})
    with started(project, "--through", "full") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(OPENING + line("tools/list", 2))
        process.stdin.flush()
        process.stdout.readline()
        assert b'"echo"' in process.stdout.readline()
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        assert children
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
        assert [one for one in children if Path(f"/proc/{one}").exists()] == []


@pytest.mark.untraced
def test_the_command_serves_its_own_tools(project: Path) -> None:
    with started(project) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(OPENING + line("tools/list", 2))
        process.stdin.flush()
        process.stdout.readline()
        listed = json.loads(process.stdout.readline())
        said, errors = process.communicate(timeout=60)
    assert (said, errors, process.returncode) == (b"", b"", 0)
    assert [one["name"] for one in listed["result"]["tools"]] == [OPEN, CLOSE, "disable_quota_guard"]


def test_a_server_that_a_worker_starts_is_headless(monkeypatch: pytest.MonkeyPatch, project: Path) -> None:
    """A project may name this server in its .mcp.json, without the flag."""
    import msgspec

    from checkrein.cli.serve_mcp import Given, _served

    given = msgspec.convert(
        {
            "project": str(project),
            "through": (),
            "port": None,
            "token_file": None,
            "headless": False,
            "permission_mode": None,
            "allow": (),
            "deny": (),
            "trust": False,
        },
        Given,
    )
    assert _served(given).worker is False
    monkeypatch.setenv("CHECKREIN_WORKER", "1")
    assert _served(given).worker is True
