"""Rules, effects and approvals over the tools of MCP servers, and over the servers themselves."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from support.mcp_runs import (
    DONE,
    FRAMES,
    RICH,
    WAIT,
    Serve,
    allow,
    bodies,
    config,
    configure,
    go,
    of_user,
    results,
    texts,
    written,
)
from support.programs import Ran
from support.sessions import call

ECHO = call("mcp__s__echo", a=1)
SHELL_EFFECT = '[mcp.effects.s]\nshell = "exec:command"\n'


def denied(*rules: str, allowed: tuple[str, ...] = ("mcp__s",)) -> tuple[str, str]:
    return "--settings", json.dumps({"permissions": {"deny": list(rules), "allow": list(allowed)}})


def denials(ran: Ran) -> list[str]:
    return [one["tool_name"] for one in ran.result["permission_denials"]]


def test_a_call_needs_approval_and_nobody_gives_it(serve: Serve, project: Path) -> None:
    configure(project, s=written(project, "s"))
    ran = go(serve(WAIT, ECHO, DONE))
    assert results(ran)[1]["is_error"]
    assert denials(ran) == ["mcp__s__echo"]


@pytest.mark.parametrize("rule", ["mcp__s", "mcp__s__*", "mcp__s__echo", "mcp__*"])
def test_a_denied_tool_is_not_offered_and_does_not_run(serve: Serve, project: Path, rule: str) -> None:
    heard = f"def call(request, name, arguments):\n    open({str(project / 'called')!r}, 'w').close()\n"
    configure(project, s=written(project, "s", heard))
    programs = serve(WAIT, ECHO, DONE)
    ran = go(programs, *denied(rule))
    assert results(ran)[1]["is_error"]
    assert "mcp__s__echo" not in json.dumps(bodies(programs)[1])
    assert not (project / "called").exists()


def test_a_declared_effect_puts_a_tool_under_the_rules_for_commands(serve: Serve, project: Path) -> None:
    (project / "checkrein.toml").write_text(SHELL_EFFECT)
    of_user(s=written(project, "s", RICH))
    remove, show = call("mcp__s__shell", command="rm a.txt"), call("mcp__s__shell", command="cat a.txt")
    ran = go(serve(WAIT, remove, show, DONE), *denied("Bash(rm *)"))
    _, refused, shown = results(ran)
    assert "Bash(rm *)" in refused["content"]
    assert refused["is_error"]
    assert (project / "a.txt").exists()
    assert shown["content"].startswith("0 alpha")


def test_a_declared_effect_allows_nothing(serve: Serve, project: Path) -> None:
    (project / "checkrein.toml").write_text(SHELL_EFFECT)
    configure(project, s=written(project, "s", RICH))
    ran = go(serve(WAIT, call("mcp__s__shell", command="echo x"), DONE), *allow("Bash(echo *)"))
    assert results(ran)[1]["is_error"]


def test_a_project_server_is_bound_by_the_rules_itself(serve: Serve, project: Path) -> None:
    configure(project, s=written(project, "s", RICH))
    ran = go(serve(WAIT, call("mcp__s__shell", command="rm a.txt"), DONE), *denied("Bash(rm *)"))
    assert (project / "a.txt").exists(), texts(ran)


def test_a_server_of_the_command_line_is_bound_like_one_of_the_project(serve: Serve, project: Path) -> None:
    words = config(s=written(project, "s", RICH))
    go(serve(call("mcp__s__shell", command="rm a.txt"), DONE), *words, *denied("Bash(rm *)"))
    assert (project / "a.txt").exists()


def test_a_server_of_the_user_is_not_bound(serve: Serve, project: Path) -> None:
    of_user(s=written(project, "s", RICH))
    ran = go(serve(WAIT, call("mcp__s__shell", command="rm a.txt"), DONE), *denied("Bash(rm *)"))
    assert texts(ran)[1].startswith("0 ")
    assert not (project / "a.txt").exists()


def test_a_changed_definition_asks_until_it_is_approved(serve: Serve, project: Path) -> None:
    configure(project, s=written(project, "s"))
    script = project / "server_s.py"
    words = allow("mcp__s")
    assert texts(go(serve(WAIT, ECHO, DONE), *words))[1] == '{"a": 1}'
    script.write_text(script.read_text().replace("Says it again.", "Also sends it elsewhere."))
    ran = go(serve(WAIT, ECHO, DONE), *words)
    assert results(ran)[1]["is_error"]
    assert "checkrein mcp approve s" in json.dumps(ran.frames)
    assert serve().run("trust", "--yes").status == 0
    approved = serve().run("mcp", "approve", "s", "--yes")
    assert approved.status == 0, approved.stderr
    assert texts(go(serve(WAIT, ECHO, DONE), *words))[1] == '{"a": 1}'


def test_a_tool_that_needs_the_user_asks_even_in_bypass(serve: Serve, project: Path) -> None:
    hint = 'TOOLS[0]["_meta"] = {"anthropic/requiresUserInteraction": True}'
    configure(project, s=written(project, "s", hint), t=written(project, "t"))
    words = ("--permission-mode", "bypassPermissions", "--allow-dangerously-skip-permissions")
    ran = go(serve(WAIT, ECHO, call("mcp__t__echo", b=2), DONE), *words, env={"IS_SANDBOX": "1"})
    assert results(ran)[1]["is_error"]
    assert texts(ran)[2] == '{"b": 2}'


def test_two_tools_of_one_name_are_both_named(serve: Serve, project: Path) -> None:
    first = 'TOOLS[0]["name"] = "b__echo"'
    configure(project, a=written(project, "a", first), a__b=written(project, "b"))
    ran = go(serve(WAIT, DONE))
    warned = json.dumps([frame for frame in ran.frames if frame["type"] == "system"])
    assert "'b__echo' of 'a'" in warned
    assert "'echo' of 'a__b'" in warned


SLOW = """
TOOLS[0]["annotations"] = {"readOnlyHint": True}
import threading

def call(request, name, arguments):
    def work():
        began = time.time()
        time.sleep(0.6)
        answer(request, text(json.dumps([began, time.time()])))
    threading.Thread(target=work).start()
"""


@pytest.mark.parametrize("declared", [False, True])
def test_only_a_declared_effect_of_the_user_makes_calls_parallel(
    serve: Serve, project: Path, declared: bool
) -> None:
    home = Path(os.environ["CHECKREIN_HOME"])
    home.mkdir(parents=True, exist_ok=True)
    if declared:
        (home / "config.toml").write_text('[mcp.effects.s]\necho = "read:path"\n')
    configure(project, s=written(project, "s", SLOW))
    twice = {"tool_calls": [{"name": "mcp__s__echo", "input": {"path": "a.txt"}}] * 2}
    ran = go(serve(WAIT, twice, DONE), *allow("mcp__s"))
    (first, second) = (json.loads(said) for said in texts(ran)[1:])
    assert (second[0] < first[1]) is declared


def test_an_untrusted_project_brings_no_allow_for_servers_of_the_user(serve: Serve, project: Path) -> None:
    of_user(s=written(project, "s"))
    (project / ".claude").mkdir()
    (project / ".claude/settings.json").write_text(json.dumps({"permissions": {"allow": ["mcp__s"]}}))
    ran = serve(WAIT, ECHO, DONE).run("-p", "go", *FRAMES)
    assert texts(ran)[0] == "s: connected"
    assert results(ran)[1]["is_error"]
