"""MCP servers of one agent: what binds them, and what keeps them away."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.agent_servers import ECHO, PATIENT, agent, asked_by, run_patiently, waits
from support.agents import below, orders
from support.mcp_runs import (
    DONE,
    RICH,
    Serve,
    allow,
    of_user,
    results,
    texts,
    tool_names,
    written,
)
from support.sessions import call

WHERE = call("mcp__own__where")


def test_a_deny_of_the_parent_binds(serve: Serve, project: Path) -> None:
    called = f"def call(request, name, arguments):\n    open({str(project / 'called')!r}, 'w').close()\n"
    agent(project, {"own": written(project, "own", called)})
    programs = serve(*below(ECHO, {"text": "done"}), orders(waits()), DONE)
    ran = run_patiently(
        programs, "--settings", json.dumps({"permissions": {"deny": ["mcp__own__*"], "allow": ["mcp__own"]}})
    )
    assert results(ran)[0]["is_error"]
    assert "mcp__own__echo" not in json.dumps(asked_by(programs, "WORKER")[0])
    assert not (project / "called").exists()


def test_without_a_rule_its_call_asks(serve: Serve, project: Path) -> None:
    agent(project, {"own": written(project, "own")})
    ran = run_patiently(serve(*below(ECHO, {"text": "done"}), orders(waits()), DONE))
    assert results(ran)[0]["is_error"]
    assert "there is nobody to ask" in results(ran)[0]["content"]


def test_declared_effects_and_hooks_bind_it(serve: Serve, project: Path) -> None:
    (project / "checkrein.toml").write_text('[mcp.effects.own]\nshell = "exec:command"\n')
    agent(project, {"own": written(project, "own", RICH)})
    programs = serve(
        *below(call("mcp__own__shell", command="rm a.txt"), WHERE, {"text": "done"}), orders(waits()), DONE
    )
    rules = {"permissions": {"deny": ["Bash(rm *)"], "allow": ["mcp__own"]}}
    refuse = "echo no such place >&2; exit 2"
    hook = {"PreToolUse": [{"matcher": "mcp__own__where", "hooks": [{"type": "command", "command": refuse}]}]}
    ran = run_patiently(programs, "--settings", json.dumps({**rules, "hooks": hook}))
    removed, where = results(ran)[:2]
    assert "Bash(rm *)" in removed["content"]
    assert "no such place" in where["content"]
    assert (project / "a.txt").exists()


@pytest.mark.parametrize(
    ("fields", "has"),
    [
        ({"tools": "Read"}, False),
        ({"tools": "mcp__own__echo"}, True),
        ({"tools": "mcp__own"}, True),
        ({"disallowedTools": "mcp__own__*"}, False),
    ],
)
def test_tools_of_the_definition_choose(
    serve: Serve, project: Path, fields: dict[str, str], has: bool
) -> None:
    agent(project, {"own": written(project, "own")}, **fields)
    programs = serve(*below(ECHO, {"text": "done"}), orders(waits()), DONE)
    ran = run_patiently(programs, *allow("mcp__own"))
    assert ('{"a": 1}' in texts(ran)) is has
    if has:
        assert tool_names(asked_by(programs, "WORKER")[0]) == ["mcp__own__echo"]


def test_disallowed_tools_bind_the_servers_of_agents_below(serve: Serve, project: Path) -> None:
    agent(project, {"own": written(project, "own")})
    agent(project, name="chief", body="You are CHIEF.", disallowedTools="mcp__own")
    programs = serve(
        *below(orders(waits()), {"text": "b"}, system="CHIEF"),
        *below(ECHO, {"text": "c"}),
        orders(waits(type="chief")),
        DONE,
    )
    ran = run_patiently(programs, *allow("mcp__own"))
    assert '{"a": 1}' not in texts(ran)
    assert asked_by(programs, "WORKER")


def test_an_untrusted_project_starts_none(serve: Serve, project: Path) -> None:
    agent(project, {"own": written(project, "own", f"open({str(project / 'ran')!r}, 'w').close()")})
    programs = serve(*below({"text": "done"}), orders(waits()), DONE)
    programs.run("-p", "go", env=PATIENT)
    assert asked_by(programs, "WORKER")
    assert not (project / "ran").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("--settings", json.dumps({"deniedMcpServers": [{"serverName": "own"}]})),
        ("--strict-mcp-config",),
    ],
)
def test_lists_and_flags_that_keep_servers_away(serve: Serve, project: Path, words: tuple[str, ...]) -> None:
    agent(project, {"own": written(project, "own", f"open({str(project / 'ran')!r}, 'w').close()")})
    programs = serve(*below(ECHO, {"text": "done"}), orders(waits()), DONE)
    run_patiently(programs, *words)
    assert asked_by(programs, "WORKER")
    assert not (project / "ran").exists()


def test_a_project_takes_no_name_beside_a_server_of_the_user(serve: Serve, project: Path) -> None:
    of_user(my_own=written(project, "users"))
    agent(project, {"my.own": written(project, "theirs", "TOOLS[0]['name'] = 'theirs'")})
    users, theirs = call("mcp__my_own__echo", a=1), call("mcp__my_own__theirs")
    programs = serve(
        *below(users, theirs, {"text": "done"}), call("WaitForMcpServers"), orders(waits()), DONE
    )
    answers = results(run_patiently(programs, *allow("mcp__my_own")))
    assert answers[1]["content"] == '{"a": 1}'
    assert answers[2]["is_error"]


def test_a_changed_definition_asks_until_it_is_approved(serve: Serve, project: Path) -> None:
    agent(project, {"own": written(project, "own")})
    script = project / "server_own.py"
    words = allow("mcp__own")
    turns = (*below(ECHO, {"text": "done"}), orders(waits()), DONE)
    assert texts(run_patiently(serve(*turns), *words))[0] == '{"a": 1}'
    script.write_text(script.read_text().replace("Says it again.", "Also sends it elsewhere."))
    ran = run_patiently(serve(*turns), *words)
    assert results(ran)[0]["is_error"]
    assert "checkrein mcp approve own --agent worker" in ran.stdout
    approve = ("mcp", "approve", "own", "--agent", "worker", "--yes")
    assert serve().run(*approve).status == 1
    assert serve().run("trust", "--yes").status == 0
    approved = serve().run(*approve)
    assert approved.status == 0, approved.stderr
    assert not (project / "checkrein.lock").exists()
    assert texts(run_patiently(serve(*turns), *words))[0] == '{"a": 1}'
    assert serve().run("mcp", "approve", "--agent", "nobody").status == 1
