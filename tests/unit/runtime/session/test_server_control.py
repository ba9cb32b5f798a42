"""The servers of a session in the hands of the program that runs it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.program_servers import ProgramServers, configured, says
from tests.support.sessions import call, open_session

from checkrein.base.errors import CheckreinError
from checkrein.passes.load import load
from checkrein.runtime.session.events import SessionStarted, ToolFinished
from checkrein.runtime.session.session import Session


def opened(tmp_path: Path, program: ProgramServers, *replies: dict[str, Any], **options: Any) -> Session:
    project = load(tmp_path, mcp_config=[configured(*program.tools)] if program.tools else ())
    session = open_session(project, *replies, **options)
    session.control.exchange = program
    return session


def finished(session: Session, prompt: str = "go") -> list[ToolFinished]:
    return [event for event in session.run(prompt) if isinstance(event, ToolFinished)]


def test_tools_of_the_program_run_like_any_other(tmp_path: Path) -> None:
    program = ProgramServers(
        calc={"add": lambda given, cancel: says(str(given["a"] + given["b"]))(given, cancel)}
    )
    with opened(
        tmp_path, program, call("mcp__calc__add", a=2, b=3), {"text": "5"}, allowed=("mcp__calc__add",)
    ) as session:
        session.servers.greet()
        events = list(session.run("go"))
    started = next(event for event in events if isinstance(event, SessionStarted))
    assert "mcp__calc__add" in started.tools
    assert ("calc", "connected") in started.servers
    (done,) = [event for event in events if isinstance(event, ToolFinished)]
    assert not done.is_error
    assert "5" in json.dumps(done.content, default=lambda one: one.text)
    meta = program.heard[-1][1]["params"]["_meta"]
    assert meta == {"claudecode/toolUseId": done.id}


def test_the_gate_holds_for_them(tmp_path: Path) -> None:
    program = ProgramServers(calc={"add": says("5")})
    with opened(tmp_path, program, call("mcp__calc__add"), {"text": "no"}) as session:
        (done,) = finished(session)
    assert done.refused
    assert "tools/call" not in program.methods("calc")


def test_errors_and_hang_ups_are_results(tmp_path: Path) -> None:
    def leave(given: dict[str, Any], cancel: Any) -> dict[str, Any]:
        raise RuntimeError("a mistake of the program's side")

    program = ProgramServers(calc={"boom": says("bad", isError=True), "leave": leave})
    replies = (call("mcp__calc__boom"), call("mcp__calc__leave"), {"text": "ok"})
    with opened(tmp_path, program, *replies, mode="bypassPermissions") as session:
        boom, left = finished(session)
    assert boom.is_error
    assert boom.content == "bad"
    assert left.is_error


def test_status_has_the_rows_that_sdks_read(tmp_path: Path) -> None:
    with opened(tmp_path, ProgramServers(calc={"add": says("5")}), {"text": "hi"}) as session:
        assert session.servers.status()[0]["status"] == "pending"
        list(session.run("go"))
        (row,) = session.servers.status()
    assert row == {
        "name": "calc",
        "status": "connected",
        "serverInfo": {"name": "calc", "version": "1.0.0"},
        "tools": [{"name": "add", "description": "", "annotations": {}}],
        "config": {"type": "sdk", "name": "calc"},
        "scope": "dynamic",
    }


def test_unknown_names_are_errors(tmp_path: Path) -> None:
    with opened(tmp_path, ProgramServers()) as session:
        assert session.servers.status() == []
        session.servers.greet()
        for act in (lambda: session.servers.reconnect("x"), lambda: session.servers.toggle("x", True)):
            with pytest.raises(CheckreinError, match="Server not found: x"):
                act()


def test_toggle_takes_the_tools_away_and_brings_them_back(tmp_path: Path) -> None:
    program = ProgramServers(calc={"add": says("5")})
    with opened(tmp_path, program, {"text": "1"}, {"text": "2"}, {"text": "3"}) as session:
        list(session.run("one"))
        session.servers.toggle("calc", False)
        assert session.servers.status()[0]["status"] == "disabled"
        list(session.run("two"))
        assert "mcp__calc__add" not in session.conversation.host.tools.names()
        session.servers.toggle("calc", True)
        assert session.servers.status()[0]["status"] == "connected"
        list(session.run("three"))
        assert "mcp__calc__add" in session.conversation.host.tools.names()


def test_reconnect_says_why_it_failed(tmp_path: Path) -> None:
    program = ProgramServers(calc={"add": says("5")})
    with opened(tmp_path, program, {"text": "1"}) as session:
        list(session.run("one"))
        session.servers.reconnect("calc")
        program.instead["initialize"] = {"error": {"message": "not today"}}
        with pytest.raises(CheckreinError, match="not today"):
            session.servers.reconnect("calc")
        assert session.servers.status()[0]["error"] == "not today"


def test_set_servers_in_a_session_without_any(tmp_path: Path) -> None:
    program = ProgramServers()
    replies = ({"text": "1"}, call("mcp__late__add"), {"text": "2"}, {"text": "3"})
    with opened(tmp_path, program, *replies, allowed=("mcp__late",)) as session:
        list(session.run("one"))
        program.tools["late"] = {"add": says("7")}
        told = session.servers.set_servers(
            {
                "late": {"type": "sdk", "name": "late"},
                "broken": {"type": "pigeon"},
                "odd": [],
                "dead": {"type": "sdk", "name": "dead"},
            }
        )
        assert told["added"] == ["dead", "late"]
        assert told["removed"] == []
        assert set(told["errors"]) == {"broken", "odd", "dead"}
        (done,) = finished(session, "two")
        assert not done.is_error
        assert session.servers.set_servers({}) == {"added": [], "removed": ["dead", "late"], "errors": {}}
        list(session.run("three"))
        assert "mcp__late__add" not in session.conversation.host.tools.names()
        assert session.servers.status() == []


def test_set_servers_leaves_the_others_alone(tmp_path: Path) -> None:
    program = ProgramServers(calc={"add": says("5")})
    with opened(tmp_path, program, {"text": "1"}) as session:
        list(session.run("one"))
        program.tools["more"] = {"sub": says("1")}
        config = {"more": {"type": "sdk", "name": "more"}}
        assert session.servers.set_servers(config)["added"] == ["more"]
        assert session.servers.set_servers(config) == {"added": [], "removed": [], "errors": {}}
        assert program.methods("more").count("initialize") == 1
        assert session.servers.set_servers({})["removed"] == ["more"]
        assert [row["name"] for row in session.servers.status()] == ["calc"]


def test_lists_of_the_settings_hold_for_added_servers(tmp_path: Path) -> None:
    settings = {"deniedMcpServers": [{"serverName": "late"}]}
    project = load(tmp_path, settings=settings)
    with open_session(project, {"text": "1"}) as session:
        session.control.exchange = ProgramServers(late={})
        told = session.servers.set_servers({"late": {"type": "sdk", "name": "late"}})
    assert told["added"] == []
    assert "deniedMcpServers" in told["errors"]["late"]


def test_a_file_of_a_project_has_no_server_in_the_program(tmp_path: Path) -> None:
    (tmp_path / ".mcp.json").write_text(json.dumps(configured("calc")))
    program = ProgramServers(calc={"add": says("5")})
    with open_session(load(tmp_path), {"text": "1"}) as session:
        session.control.exchange = program
        list(session.run("one"))
        states = [row["status"] for row in session.servers.status()]
    assert states in ([], ["failed"])
    assert program.heard == []
