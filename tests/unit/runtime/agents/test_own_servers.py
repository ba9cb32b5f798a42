"""Agents with MCP servers of their own, in a session: how these end, and who may have them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from checkrein.llm.port import Cancel, ToolUse
from checkrein.model.view import View
from checkrein.passes.load import load
from checkrein.runtime.session.session import Session
from support.agent_servers import ECHO, PATIENT, agent
from support.agents import below, heard, lived, order, orders, said
from support.mcp_runs import written
from support.mcp_servers import is_running, until
from support.sessions import open_session

NOTE = "import os\nopen('pid-%d' % os.getpid(), 'w').close()\n"


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in PATIENT.items():
        monkeypatch.setenv(name, value)


def pids(project: Path) -> list[int]:
    return [int(path.name.removeprefix("pid-")) for path in project.glob("pid-*")]


def worked(project: Path, count: int) -> bool:
    return until(lambda: len(pids(project)) == count, 20)


def ended(project: Path) -> bool:
    return until(lambda: not any(map(is_running, pids(project))))


def requests(session: Session) -> Any:
    return session.conversation.models.model.requests  # type: ignore[attr-defined]


def test_the_servers_of_a_stopped_agent_end(sessions: Any, project: Path) -> None:
    agent(project, {"own": written(project, "own", NOTE)})
    session = sessions(
        *below({"text": "never", "delay": 60}), orders(order(name="w")), {"text": "w", "repeat": 0}
    )
    list(session.run("go"))
    assert worked(project, 1)
    until(lambda: bool(heard(requests(session))), 20)
    session.conversation.host.call(ToolUse("later", "TaskStop", {"task_id": "w"}), Cancel())
    assert ended(project)


def test_the_servers_of_several_agents_end_with_the_session(sessions: Any, project: Path) -> None:
    agent(project, {"own": written(project, "own", NOTE)})
    work = [order("one"), order("two")]
    session = sessions(
        *below({"text": "never", "delay": 60, "repeat": 0}), orders(*work), {"text": "w", "repeat": 0}
    )
    list(session.run("go"))
    assert worked(project, 2)
    assert sum(map(is_running, pids(project))) == 2
    session.close()
    assert ended(project)


def test_a_program_that_names_tools_or_servers_decides_for_agents_too(project: Path) -> None:
    agent(project, {"own": written(project, "own", NOTE)})
    whole = View(load(project))
    turns = (*below(ECHO, {"text": "done"}), orders(order(run_in_background=False)), {"text": "end"})
    for view in (whole.narrow(tools=("Agent", "Read")), whole.narrow(servers=())):
        session = open_session(view, *turns, allowed=("mcp__own",))
        lived(session)
        told = said(heard(requests(session))[-1].messages)
        session.close()
        assert "There is no tool 'mcp__own__echo'" in told
    assert len(pids(project)) == 1, "servers that the view does not show do not start"


def test_the_wait_ends_when_the_agent_is_interrupted(sessions: Any, project: Path) -> None:
    agent(project, {"own": written(project, "own", NOTE + "def initialize(request):\n    time.sleep(600)\n")})
    session = sessions(*below({"text": "never"}), orders(order()), {"text": "w", "repeat": 0})
    list(session.run("go"))
    assert worked(project, 1)
    session.close()
    assert ended(project)
    assert heard(requests(session)) == []
