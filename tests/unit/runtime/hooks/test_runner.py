"""Selecting, running side by side, time limits, async hooks; commands really run."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from checkrein.base.origin import Origin, Scope
from checkrein.facts.claude_hooks import HOOK_EVENTS
from checkrein.llm.cancel import Cancel
from checkrein.model.items import Hook
from checkrein.runtime.hooks.outcome import News
from checkrein.runtime.hooks.ports import Ports, Surroundings
from checkrein.runtime.hooks.registry import agent_hooks
from checkrein.runtime.process.spawner import Spawner
from checkrein.runtime.session.events import HookFinished, HookStarted
from support.hooks import Fired

ENV = {"PATH": os.environ.get("PATH", os.defpath), "OTEL_EXPORTER": "x", "BASH_ENV": "/nope", "KEEP": "1"}
BASH = {"tool_name": "Bash", "tool_input": {"command": "echo hi"}, "tool_use_id": "t"}


@pytest.fixture(scope="module")
def spawner() -> Iterator[Spawner]:
    with Spawner(lambda origin: origin.scope != "project") as one:
        yield one


Make = Callable[..., Fired]


@pytest.fixture
def make(spawner: Spawner, tmp_path: Path) -> Iterator[Make]:
    made: list[Fired] = []

    def make(*hooks: Hook, **options: Any) -> Fired:
        around = options.pop("around", None) or Surroundings(
            project_dir=str(tmp_path), session_id="s1", env=ENV, results_dir=str(tmp_path / "results")
        )
        made.append(Fired(hooks, spawner=spawner, around=around, **options))
        return made[-1]

    yield make
    for fired in made:
        fired.runner.close()


def hook(command: str, event: str = "PreToolUse", scope: Scope = "user", **fields: Any) -> Hook:
    fields.setdefault("origin", Origin("/s.json", scope))
    return Hook(name=event, type="command", command=command, **fields)


def deny(reason: str) -> str:
    body = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": reason}
    return f"printf %s '{json.dumps({'hookSpecificOutput': body})}'"


def test_a_hook_reads_its_event(make: Make, tmp_path: Path) -> None:
    runner = make(hook(f"cat > {tmp_path}/in.json"))
    runner.fire("PreToolUse", {"hook_event_name": "PreToolUse", "cwd": str(tmp_path), **BASH})
    text = (tmp_path / "in.json").read_text()
    assert text.endswith("\n")
    assert json.loads(text)["tool_input"] == {"command": "echo hi"}
    assert ": " not in text.replace("echo hi", ""), "compact, so that grep for a field works"


def test_nothing_selected_costs_nothing(make: Make) -> None:
    runner = make(hook("exit 2", matcher="Edit"))
    found = runner.fire("PreToolUse", BASH)
    assert (found.verdict, found.records) == (None, ())
    assert runner.registry.has("PreToolUse")
    assert not runner.registry.has("Stop")


def test_an_unknown_event_is_a_mistake(make: Make) -> None:
    with pytest.raises(KeyError):
        make().fire("BeforeTool", {})


@pytest.mark.parametrize("event", sorted(HOOK_EVENTS))
def test_every_event_runs_a_command(event: str, make: Make, tmp_path: Path) -> None:
    runner = make(hook(f"echo ran >> {tmp_path}/ran; exit 2", event))
    found = runner.fire(event, {"hook_event_name": event, "cwd": str(tmp_path)})
    assert (tmp_path / "ran").read_text() == "ran\n"
    expected = HOOK_EVENTS[event].blocks or event in ("PostToolUse", "PostToolUseFailure")
    assert (found.blocked or found.verdict == "deny") == expected


def test_all_run_side_by_side_and_all_end(make: Make, tmp_path: Path) -> None:
    met = f"while [ $(ls {tmp_path} | grep -c here) -lt 6 ]; do sleep 0.02; done"
    hooks = [hook(f"touch {tmp_path}/here{n}; {met}; touch {tmp_path}/end{n}", timeout=30) for n in range(6)]
    found = make(*hooks, hook(deny("no"))).fire("PreToolUse", BASH)
    assert found.verdict == "deny"
    assert len(list(tmp_path.glob("end*"))) == 6, "each waits for the other five, and a refusal stops none"


def test_a_slow_rewrite_counts_last(make: Make) -> None:
    def rewrite(command: str, sleep: float) -> Hook:
        body = {"hookEventName": "PreToolUse", "updatedInput": {"command": command}}
        return hook(f"sleep {sleep}; printf %s '{json.dumps({'hookSpecificOutput': body})}'")

    found = make(rewrite("slow", 0.3), rewrite("fast", 0)).fire("PreToolUse", BASH)
    assert found.updated_input == {"command": "slow"}
    assert [record.order for record in found.records] == [1, 0]


def test_copies_run_once(make: Make, tmp_path: Path) -> None:
    line = f"echo x >> {tmp_path}/count"
    plugin = hook(line, scope="plugin", plugin="p", origin=Origin("/plug.json", "plugin"))
    make(hook(line), hook(line, origin=Origin("/other.json", "user")), plugin).fire("PreToolUse", BASH)
    assert (tmp_path / "count").read_text() == "x\nx\n"


def test_time_is_up(make: Make) -> None:
    began = time.monotonic()
    found = make(hook("sleep 30; exit 2", timeout=0.2)).fire("PreToolUse", BASH)
    assert time.monotonic() - began < 15
    assert found.verdict is None
    assert found.errors == ("PreToolUse:Bash hook error: no answer within 0.2 s",)
    assert found.records[0].outcome == "cancelled"
    closed = make(hook("sleep 30", timeout=0.2, fail_closed=True)).fire("PreToolUse", BASH)
    assert closed.verdict == "deny"


def test_session_end_has_one_budget(make: Make) -> None:
    began = time.monotonic()
    hooks = [hook(f"sleep {20 + index}", "SessionEnd") for index in range(2)]
    around = Surroundings(
        project_dir="/", session_id="s", env={**ENV, "CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS": "200"}
    )
    make(*hooks, around=around).fire("SessionEnd", {"reason": "other"})
    assert time.monotonic() - began < 15


def test_cancel_ends_all(make: Make) -> None:
    cancel = Cancel()
    threading.Timer(0.2, cancel.cancel).start()
    began = time.monotonic()
    found = make(hook("sleep 30", fail_closed=True), hook("sleep 31")).fire("PreToolUse", BASH, cancel=cancel)
    assert time.monotonic() - began < 15
    assert [record.outcome for record in found.records] == ["cancelled", "cancelled"]
    assert found.verdict is None


def test_events_tell_of_each_hook(make: Make) -> None:
    fired = make(hook("echo out; echo err >&2; exit 1"), hook("true #"))
    fired.fire("PreToolUse", BASH)
    started = [event for event in fired.told if isinstance(event, HookStarted)]
    finished = {event.hook_id: event for event in fired.told if isinstance(event, HookFinished)}
    assert [event.hook_name for event in started] == ["PreToolUse:Bash"] * 2
    first = finished[started[0].hook_id]
    assert (first.stdout, first.stderr, first.exit_code, first.outcome) == ("out\n", "err\n", 1, "error")
    assert finished[started[1].hook_id].outcome == "success"


def test_environment(make: Make, tmp_path: Path) -> None:
    around = Surroundings(
        project_dir=str(tmp_path), session_id="s1", env=ENV, env_file="/env/file", remote=True
    )
    where = tmp_path / "sub"
    where.mkdir()
    runner = make(
        hook(f"env > {tmp_path}/env; pwd > {tmp_path}/pwd", "SessionStart"),
        hook(f"env > {tmp_path}/env2"),
        around=around,
    )
    runner.fire("SessionStart", {"source": "startup", "cwd": str(where)})
    runner.fire("PreToolUse", {**BASH, "effort": {"level": "high"}})
    first = dict(line.split("=", 1) for line in (tmp_path / "env").read_text().splitlines() if "=" in line)
    second = (tmp_path / "env2").read_text()
    assert first["CLAUDE_PROJECT_DIR"] == str(tmp_path)
    assert first["CLAUDE_CODE_SESSION_ID"] == "s1"
    assert first["CLAUDECODE"] == "1"
    assert first["CLAUDE_CODE_REMOTE"] == "true"
    assert first["CLAUDE_ENV_FILE"] == "/env/file"
    assert first["KEEP"] == "1"
    assert not {"OTEL_EXPORTER", "BASH_ENV"} & set(first)
    assert (tmp_path / "pwd").read_text().strip() == os.path.realpath(where)
    assert "CLAUDE_EFFORT=high" in second
    assert "CLAUDE_ENV_FILE" not in second


def test_once_counts_for_skills(make: Make, tmp_path: Path) -> None:
    skill = Origin("/SKILL.md", "user", None, "frontmatter.hooks.PreToolUse[0].hooks[0]")
    runner = make(hook(f"echo s >> {tmp_path}/skill", once=True, origin=skill))
    settings = make(hook(f"echo s >> {tmp_path}/settings", once=True))
    for _ in range(3):
        runner.fire("PreToolUse", BASH)
        settings.fire("PreToolUse", BASH)
    assert (tmp_path / "skill").read_text() == "s\n"
    assert (tmp_path / "settings").read_text() == "s\n" * 3


def test_hooks_come_and_go(make: Make) -> None:
    runner = make()
    remove = runner.registry.add([hook("exit 2")])
    assert runner.fire("PreToolUse", BASH).verdict == "deny"
    remove()
    assert runner.fire("PreToolUse", BASH).verdict is None


def test_the_hooks_of_a_parent_bind_its_children(make: Make, tmp_path: Path) -> None:
    once = Origin("/SKILL.md", "user", None, "frontmatter.hooks.PreToolUse[0].hooks[0]")
    parent = make(hook(f"echo s >> {tmp_path}/once", once=True, origin=once))
    child = make(above=parent.registry)
    parent.registry.add([hook("exit 2")])
    assert child.fire("PreToolUse", BASH).verdict == "deny", "hooks that the parent gets later bind too"
    assert parent.fire("PreToolUse", BASH).verdict == "deny"
    assert (tmp_path / "once").read_text() == "s\n"
    child.registry.add([hook("exit 2", "Stop")])
    assert not parent.fire("Stop", {}).blocked


def test_a_subagents_stop_is_a_subagent_stop() -> None:
    stop, other = hook("a", "Stop"), hook("b")
    assert [one.name for one in agent_hooks([stop, other])] == ["SubagentStop", "PreToolUse"]


@pytest.mark.parametrize(
    ("broken", "code"),
    [
        (hook("x", "Nonsense"), "RUNHOOK001"),
        (Hook(name="SessionStart", type="http", url="http://x", origin=Origin("/s", "user")), "RUNHOOK002"),
        (Hook(name="SessionEnd", type="prompt", prompt="x", origin=Origin("/s", "user")), "RUNHOOK002"),
        (hook(""), "RUNHOOK003"),
        (hook("x", matcher="("), "RUNHOOK004"),
        (hook("x", "Stop", condition="Bash(x)"), "RUNHOOK005"),
    ],
)
def test_what_can_never_run_is_reported(broken: Hook, code: str, make: Make) -> None:
    runner = make(broken)
    assert [found.code for found in runner.registry.diagnostics] == [code]
    assert not runner.registry.has(broken.name)


def test_an_origin_the_spawner_does_not_trust(make: Make, tmp_path: Path) -> None:
    found = make(hook(f"touch {tmp_path}/ran", scope="project")).fire("PreToolUse", BASH)
    assert not (tmp_path / "ran").exists()
    assert found.verdict == "ask"
    assert "not trusted" in found.reason


class TestAsync:
    def test_it_is_not_waited_for_and_decides_nothing(self, make: Make, tmp_path: Path) -> None:
        wait = f"while [ ! -e {tmp_path}/go ]; do sleep 0.02; done"
        fired = make(hook(f"{wait}; {deny('late')}", run_async=True))
        found = fired.fire("PreToolUse", BASH)
        assert (found.verdict, found.records) == (None, ())
        (tmp_path / "go").touch()
        assert news_of(fired).wake is False

    def test_what_it_says_is_told_later(self, make: Make) -> None:
        body = {
            "systemMessage": "m",
            "hookSpecificOutput": {"hookEventName": "Stop", "additionalContext": "c"},
        }
        fired = make(hook(f"printf %s '{json.dumps(body)}'", "Stop", run_async=True))
        fired.fire("Stop", {})
        news = news_of(fired)
        assert ([c.text for c in news.additional_context], news.system_messages) == (["c"], ("m",))
        assert fired.runner.news().additional_context == ()

    def test_exit_two_wakes_the_model(self, make: Make) -> None:
        fired = make(hook("echo look >&2; exit 2", "Stop", async_rewake=True))
        assert not fired.fire("Stop", {}).blocked
        news = news_of(fired)
        assert news.wake
        assert [c.text for c in news.additional_context] == ["look"]

    def test_the_end_of_the_session_ends_it(self, make: Make) -> None:
        fired = make(hook("sleep 30", "Stop", run_async=True))
        fired.fire("Stop", {})
        time.sleep(0.1)
        began = time.monotonic()
        fired.runner.close()
        assert time.monotonic() - began < 15
        (finished,) = news_of(fired).events
        assert isinstance(finished, HookFinished)
        assert finished.outcome == "cancelled"


def news_of(fired: Fired) -> News:
    """The first news with the end of an async hook in it."""
    limit = time.monotonic() + 20
    while not (news := fired.runner.news()).events:
        assert time.monotonic() < limit, "waited too long"
        time.sleep(0.01)
    return news


class TestHostile:
    def test_ten_megabytes(self, make: Make, tmp_path: Path) -> None:
        runner = make(hook("head -c 10000000 /dev/zero | tr '\\0' x", "UserPromptSubmit"))
        found = runner.fire("UserPromptSubmit", {"prompt": "go"})
        (context,) = found.additional_context
        assert len(context.text) < 2_500
        (saved,) = (tmp_path / "results").iterdir()
        assert str(saved) in context.text
        assert saved.stat().st_mode & 0o777 == 0o600
        assert saved.stat().st_size >= 1_000_000

    def test_ten_megabytes_of_json_are_no_decision(self, make: Make) -> None:
        begin, end = """printf '{"decision": "approve", "reason": "'""", """printf '"}'"""
        line = f"{begin}; head -c 10000000 /dev/zero | tr '\\0' x; {end}"
        assert make(hook(line)).fire("PreToolUse", BASH).verdict is None
        assert make(hook(line, fail_closed=True)).fire("PreToolUse", BASH).verdict == "deny"

    def test_bytes_that_are_no_text(self, make: Make) -> None:
        runner = make(hook("printf 'a\\377\\000b'", "UserPromptSubmit"))
        found = runner.fire("UserPromptSubmit", {"prompt": "go"})
        assert found.context_text == "a\ufffdb"

    def test_a_hook_that_does_not_read(self, make: Make) -> None:
        payload = {**BASH, "tool_input": {"command": "x" * 3_000_000}}
        assert make(hook("exit 2")).fire("PreToolUse", payload).verdict == "deny"

    def test_a_hook_that_closes_its_output(self, make: Make) -> None:
        assert make(hook("exec >&- 2>&-; exit 2")).fire("PreToolUse", BASH).verdict == "deny"

    def test_a_missing_program(self, make: Make) -> None:
        found = make(hook("/no/such/program", args=())).fire("PreToolUse", BASH)
        assert found.verdict is None
        assert "could not be started" in found.errors[0]

    def test_secrets_stay_out_of_reasons(self, make: Make) -> None:
        found = make(hook("exit 2 # " + "sk-ant-" + "a1" * 20)).fire("PreToolUse", BASH)
        assert "sk-ant" not in found.reason


def test_rule_port_keeps_a_hook_away(make: Make) -> None:
    ports = Ports(rule_matches=lambda rule, tool, given: given["command"].startswith("git"))
    runner = make(hook("exit 2", condition="Bash(git *)"), ports=ports)
    assert runner.fire("PreToolUse", BASH).verdict is None
    assert runner.fire("PreToolUse", {**BASH, "tool_input": {"command": "git push"}}).verdict == "deny"
