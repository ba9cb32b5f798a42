"""A server of one agent that wants a sign-in: the agent says how, and the sign-in is for that server."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from checkrein.cli.main import run
from support.agents import below, files, heard, lived, order, orders, said
from support.auth_server import AuthServer, auth_server
from support.sessions import open_session

DONE = {"text": "done", "repeat": 0}
LOGIN = "checkrein mcp login own --agent worker"


def told(project: Path) -> str:
    """What the agent hears of its server."""
    replies = (*below(DONE), orders(order(run_in_background=False)), DONE)
    with open_session(project, *replies, env=dict(os.environ)) as session:
        lived(session)
        (request,) = heard(session.conversation.models.model.requests)  # type: ignore[attr-defined]
    return said(request.messages)


@pytest.fixture
def of_agent(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AuthServer]:
    """The server of the agent `worker`, and a browser whose user says yes to everything."""
    browser = tmp_path / "browser.py"
    browser.write_text("import sys, urllib.request as r; r.urlopen(sys.argv[1]).read()")
    monkeypatch.setenv("BROWSER", f"{sys.executable} {browser}")
    monkeypatch.setenv("CHECKREIN_HOME", str(tmp_path / "own"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("MCP_CONNECT_TIMEOUT_MS", "30000")
    monkeypatch.chdir(project)
    with auth_server() as hub:
        (text,) = files(mcpServers=json.dumps([{"own": {"type": "http", "url": hub.url}}])).values()
        (project / ".claude/agents").mkdir(parents=True)
        (project / ".claude/agents/worker.md").write_text(text)
        yield hub


def test_the_agent_is_named_and_the_sign_in_counts(of_agent: AuthServer, project: Path) -> None:
    assert run(["mcp", "login", "own", "--agent", "worker"]) == 1
    run(["trust", "--yes"])
    assert LOGIN in told(project)
    assert run(["mcp", "login", "own"]) == 1
    assert run(["mcp", "login", "own", "--agent", "nobody"]) == 1
    assert of_agent.count("/authorize") == 0
    assert run(["mcp", "login", "own", "--agent", "worker"]) == 0
    assert LOGIN not in told(project)
    assert run(["mcp", "logout", "own", "--agent", "worker"]) == 0
    assert LOGIN in told(project)
