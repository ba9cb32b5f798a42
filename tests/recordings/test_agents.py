"""Subagents through the command line: what programs see, what hooks bind, what ends them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.agents import below, files, order, orders
from support.programs import Programs, ended, hooks, marked, slack

PROJECT = pytest.mark.project(files())
Serve = Callable[..., Programs]
MODEL = ("--model", "anthropic:claude-sonnet-5-5", "--trust")
STREAM = ("--output-format", "stream-json", "--verbose")
ID = "00000000-0000-4000-8000-000000000018"
FIRST = {"text": "waiting"}


def call(name: str, **input: Any) -> dict[str, Any]:
    return {"tool_calls": [{"name": name, "input": input}]}


def frame(text: str) -> str:
    return json.dumps({"type": "user", "message": {"role": "user", "content": text}}) + "\n"


def told(programs: Programs, number: int = -1) -> str:
    """What a request told its model."""
    return json.dumps(json.loads(programs.requests[number].body)["messages"])


def of_worker(programs: Programs) -> list[str]:
    found = [json.loads(one.body) for one in programs.requests]
    return [json.dumps(one["messages"]) for one in found if "WORKER" in json.dumps(one["system"])]


@PROJECT
def test_one_in_the_foreground(serve: Serve) -> None:
    programs = serve(
        *below({"text": "the report"}), orders(order(run_in_background=False)), {"text": "I have it"}
    )
    ran = programs.run("-p", "go", *MODEL)
    assert (ran.status, ran.stdout.strip()) == (0, "I have it")
    assert "the report" in told(programs)


BACKGROUND = (*below({"text": "the report", "delay": 0.3}), orders(order()), FIRST, {"text": "I have it"})


@PROJECT
def test_a_text_run_waits_and_says_the_last_words_once(serve: Serve) -> None:
    programs = serve(*BACKGROUND)
    ran = programs.run("-p", "go", *MODEL)
    assert (ran.status, ran.stdout.strip()) == (0, "I have it")
    assert told(programs).count("the report") == 1


@PROJECT
def test_a_json_run_has_one_result(serve: Serve) -> None:
    ran = serve(*BACKGROUND).run("-p", "go", *MODEL, "--output-format", "json")
    assert len(ran.stdout.strip().splitlines()) == 1
    assert ran.result["result"] == "I have it"


@PROJECT
def test_a_stream_has_each_turn(serve: Serve) -> None:
    ran = serve(*BACKGROUND).run("-p", "go", *MODEL, *STREAM)
    assert [one["result"] for one in ran.results] == ["waiting", "I have it"]
    kinds = [(one["type"], one.get("subtype")) for one in ran.frames]
    assert kinds.count(("system", "task_started")) == 1
    assert kinds.count(("system", "task_notification")) == 1
    started = kinds.index(("system", "task_started"))
    assert started < kinds.index(("result", "success")) < kinds.index(("system", "task_notification"))


@PROJECT
@pytest.mark.parametrize("background", [True, False])
def test_the_frames_of_a_child_name_its_call(serve: Serve, background: bool) -> None:
    programs = serve(
        *below({"text": "looking", **call("Glob", pattern="*")}, {"text": "the report"}),
        orders(order(run_in_background=background)),
        {"text": "end", "repeat": 2},
    )
    ran = programs.run("-p", "go", *MODEL, *STREAM)
    (use,) = [
        block["id"]
        for one in ran.frames
        if one["type"] == "assistant"
        for block in one["message"]["content"]
        if block["type"] == "tool_use" and block["name"] == "Agent"
    ]
    below_it = [one for one in ran.frames if one.get("parent_tool_use_id")]
    assert {one["parent_tool_use_id"] for one in below_it} == {use}
    assert {"assistant", "user"} <= {one["type"] for one in below_it}
    assert sum(one["type"] == "result" for one in ran.frames) == 1 + background


@PROJECT
def test_an_idle_session_is_woken(serve: Serve) -> None:
    """The input stays open, and the report starts a turn by itself."""
    programs = serve(*BACKGROUND, {"text": "the next one"})
    process = programs.start("-p", *MODEL, *STREAM, "--input-format", "stream-json", stdin=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(frame("go"))
    process.stdin.flush()
    results = []
    while len(results) < 2:
        line = process.stdout.readline()
        assert line, "the session ended too early"
        if json.loads(line)["type"] == "result":
            results.append(json.loads(line)["result"])
    assert results == ["waiting", "I have it"]
    process.stdin.write(frame("and"))
    process.stdin.close()
    process.stdin = None
    rest = ended(process, time.monotonic())
    assert [one["result"] for one in rest.results] == ["the next one"]


@PROJECT
def test_a_stream_that_ends_its_input_waits_too(serve: Serve) -> None:
    programs = serve(*BACKGROUND)
    process = programs.start("-p", *MODEL, *STREAM, "--input-format", "stream-json", stdin=subprocess.PIPE)
    out, _ = process.communicate(frame("go"), timeout=60)
    results = [one for one in map(json.loads, out.splitlines()) if one["type"] == "result"]
    assert [one["result"] for one in results] == ["waiting", "I have it"]


@PROJECT
def test_a_run_waits_only_so_long(serve: Serve) -> None:
    programs = serve(*below({"text": "never", "delay": 60}), orders(order()), FIRST)
    ran = ended(
        programs.start("-p", "go", *MODEL, env={"CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS": "500"}),
        time.monotonic(),
    )
    assert ran.stdout.strip() == "waiting"
    assert ran.seconds < 10


# Hooks.

BLOCKS = """#!/usr/bin/env python3
import json, os, sys
told = json.load(sys.stdin)
open("stops", "a").write(json.dumps(told) + "\\n")
if len(open("stops").readlines()) == 1:
    if os.environ.get("HOW") == "exit":
        print("LOOK AGAIN", file=sys.stderr)
        sys.exit(2)
    print(json.dumps({"decision": "block", "reason": "LOOK AGAIN"}))
"""


@pytest.mark.project({**files(), "stop.py": BLOCKS})
@pytest.mark.parametrize("how", ["json", "exit"])
def test_a_hook_sends_the_child_back_to_work(serve: Serve, project: Path, how: str) -> None:
    programs = serve(
        *below({"text": "too early"}, {"text": "the report"}),
        orders(order(run_in_background=False)),
        {"text": "end"},
    )
    ran = programs.run("-p", "go", *MODEL, *hooks("SubagentStop", "./stop.py"), env={"HOW": how})
    assert ran.stdout.strip() == "end"
    assert "LOOK AGAIN" in of_worker(programs)[-1]
    assert "the report" in told(programs)
    first = json.loads((project / "stops").read_text().splitlines()[0])
    assert first["agent_type"] == "worker"
    assert first["agent_id"]
    assert first["last_assistant_message"] == "too early"
    assert Path(first["agent_transcript_path"]).name == f"agent-{first['agent_id']}.jsonl"


OWN_STOP = {
    ".claude/agents/worker.md": "---\nname: worker\ndescription: d\nhooks:\n  Stop:\n    - hooks:\n"
    "        - type: command\n          command: echo x >> own\n---\nYou are WORKER.\n"
}


@pytest.mark.project(OWN_STOP)
def test_the_stop_hook_of_a_definition_is_for_the_agent_alone(serve: Serve, project: Path) -> None:
    programs = serve(*below({"text": "r"}), orders(order(run_in_background=False)), {"text": "end"})
    programs.run("-p", "go", *MODEL)
    assert (project / "own").read_text() == "x\n"


REFUSES = """#!/usr/bin/env python3
import json, sys
told = json.load(sys.stdin)
open("judged", "a").write(str(told.get("agent_type")) + "\\n")
if "made" in json.dumps(told["tool_input"]):
    print("NOT THAT", file=sys.stderr)
    sys.exit(2)
"""


@pytest.mark.project({**files(), "judge.py": REFUSES})
@pytest.mark.parametrize("background", [True, False])
def test_hooks_bind_the_calls_of_a_child(serve: Serve, project: Path, background: bool) -> None:
    programs = serve(
        *below(call("Bash", command="touch made"), {"text": "tried"}),
        orders(order(run_in_background=background)),
        {"text": "end", "repeat": 2},
    )
    programs.run("-p", "go", *MODEL, "--allowedTools", "Bash", *hooks("PreToolUse", "./judge.py"))
    assert not (project / "made").exists()
    assert "NOT THAT" in of_worker(programs)[-1]
    assert "worker" in (project / "judged").read_text()


@PROJECT
def test_hooks_of_its_start_reach_the_child(serve: Serve) -> None:
    answer = {"hookSpecificOutput": {"hookEventName": "SubagentStart", "additionalContext": "MARIGOLD"}}
    programs = serve(*below({"text": "r"}), orders(order(run_in_background=False)), {"text": "end"})
    programs.run("-p", "go", *MODEL, *hooks("SubagentStart", f"echo '{json.dumps(answer)}'"))
    assert "MARIGOLD" in of_worker(programs)[0]
    assert "MARIGOLD" not in told(programs)


# Money and time.


@PROJECT
def test_the_result_is_the_sum_of_the_tree(serve: Serve) -> None:
    usage = {"usage": {"input": 1000, "output": 10}}
    programs = serve(
        *below({**call("Glob", pattern="*"), **usage}, {"text": "r", **usage}),
        {**orders(order()), **usage},
        {**FIRST, **usage},
        {"text": "end", **usage},
    )
    ran = programs.run("-p", "go", *MODEL, "--output-format", "json")
    assert ran.result["usage"]["input_tokens"] == 5000
    assert ran.result["usage"]["output_tokens"] == 50
    (model,) = ran.result["modelUsage"].values()
    assert model["inputTokens"] == 5000
    parts = ran.result["checkrein"]["by_agent"]
    assert parts.pop("main")["input_tokens"] == 3000
    (child,) = parts.values()
    assert child["input_tokens"] == 2000


@PROJECT
@pytest.mark.parametrize("background", [True, False])
def test_the_budget_binds_the_tree(serve: Serve, background: bool) -> None:
    greedy = {**call("Glob", pattern="*"), "usage": {"input": 1_000_000}, "repeat": 0}
    programs = serve(*below(greedy), orders(order(run_in_background=background)), {**FIRST, "repeat": 0})
    ran = programs.run("-p", "go", *MODEL, "--output-format", "json", "--max-budget-usd", "10")
    assert ran.result["subtype"] == "error_max_budget_usd"
    assert len(programs.requests) < 10
    assert ran.status == 1


@PROJECT
@pytest.mark.parametrize("background", [True, False])
def test_the_time_binds_the_tree(serve: Serve, background: bool) -> None:
    programs = serve(
        *below({"text": "never", "delay": 60}),
        orders(order(run_in_background=background)),
        {**FIRST, "repeat": 0},
    )
    ran = programs.run("-p", "go", *MODEL, "--output-format", "json", "--max-seconds", "2")
    assert ran.seconds < 2 + 2 + 2 + slack()
    assert ran.result["is_error"] is True


# Ends.


@PROJECT
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("background", [True, False])
@pytest.mark.parametrize("busy", [True, False])
def test_a_signal_ends_the_tree(
    serve: Serve, project: Path, number: signal.Signals, background: bool, busy: bool
) -> None:
    mark = f"{os.getpid()}-{time.monotonic_ns()}"
    step = (
        call("Bash", command="touch there; sleep 60")
        if busy
        else {"text": "never", "delay": 60, "when": {"messages": 3}}
    )
    first = [] if busy else below(call("Bash", command="touch there"))
    programs = serve(
        *first, *below(step), orders(order(run_in_background=background)), {**FIRST, "repeat": 0}
    )
    process = programs.start("-p", "go", *MODEL, *STREAM, "--allowedTools", "Bash", env={"MARK": mark})
    programs.await_file("there")
    time.sleep(0.3)
    began = time.monotonic()
    process.send_signal(number)
    ran = ended(process, began)
    assert ran.seconds < 2 + slack()
    assert len(ran.results) == (2 if background and len(ran.results) == 2 else 1)
    assert marked(mark) == []


@PROJECT
@pytest.mark.parametrize("words", [("--output-format", "json"), ()])
def test_a_signal_while_a_run_waits_gives_what_was_said(serve: Serve, words: tuple[str, ...]) -> None:
    """The turn is over, and its result waits for the report of an agent."""
    programs = serve(*below({"text": "never", "delay": 60}), orders(order()), {**FIRST, "repeat": 0})
    process = programs.start("-p", "go", *MODEL, *words)
    limit = time.monotonic() + 20
    while len(programs.requests) < 3 and time.monotonic() < limit:
        time.sleep(0.02)
    time.sleep(0.5)
    began = time.monotonic()
    process.send_signal(signal.SIGTERM)
    ran = ended(process, began)
    assert ran.seconds < 2 + slack()
    if words:
        assert ran.result["result"] == "waiting"
    else:
        assert ran.stdout.strip() == "waiting"


@PROJECT
@pytest.mark.parametrize("background", [True, False])
def test_an_interrupt_ends_the_agents_and_not_the_session(serve: Serve, background: bool) -> None:
    programs = serve(
        *below(call("Bash", command="touch there; sleep 60")),
        orders(order(run_in_background=background)),
        {**FIRST, "repeat": 0},
    )
    words = (*MODEL, *STREAM, "--input-format", "stream-json", "--allowedTools", "Bash")
    process = programs.start("-p", *words, stdin=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(frame("go"))
    process.stdin.flush()
    programs.await_file("there")
    time.sleep(0.3)
    began = time.monotonic()
    asked = {"type": "control_request", "request_id": "r1", "request": {"subtype": "interrupt"}}
    out, _ = process.communicate(json.dumps(asked) + "\n" + frame("and"), timeout=60)
    assert time.monotonic() - began < 6 + slack()
    frames = [json.loads(line) for line in out.splitlines()]
    results = [one for one in frames if one["type"] == "result"]
    assert results[-1]["result"] == "waiting"
    if background:
        (ended_task,) = [one for one in frames if one.get("subtype") == "task_notification"]
        assert ended_task["status"] in ("stopped", "killed")
    else:
        assert results[0]["is_error"] is True


# Later.


@PROJECT
def test_a_report_that_nobody_heard_is_told_after_a_resume(serve: Serve) -> None:
    """The model's request after the report fails; the session ends; the report is there all the same."""
    programs = serve(
        *below({"text": "the report", "delay": 0.2}),
        orders(order()),
        FIRST,
        {"fault": {"status": 400}},
        {"text": "I have it"},
    )
    programs.run("-p", "go", *MODEL, "--session-id", ID)
    ran = programs.run("-p", "and", *MODEL, "--resume", ID)
    assert ran.stdout.strip() == "I have it"
    assert told(programs).count("the report") == 1


@PROJECT
def test_a_child_goes_on_after_a_resume(serve: Serve) -> None:
    programs = serve(
        *below({"text": "first report"}, {"text": "second report"}),
        orders(order("the task", name="digger")),
        FIRST,
        {"text": "I have it"},
        call("SendMessage", to="digger", message="more of it", summary="s"),
        FIRST,
        {"text": "I have both"},
    )
    programs.run("-p", "go", *MODEL, "--session-id", ID)
    ran = programs.run("-p", "and", *MODEL, "--resume", ID)
    assert ran.stdout.strip() == "I have both"
    again = of_worker(programs)[-1]
    assert "the task" in again
    assert "first report" in again
    assert "more of it" in again
    assert told(programs).count("second report") == 1


@PROJECT
def test_two_programs_do_not_continue_one_session_at_once(serve: Serve) -> None:
    programs = serve(*below({"text": "r", "delay": 30}), orders(order()), {**FIRST, "repeat": 0})
    first = programs.start("-p", "go", *MODEL, "--session-id", ID)
    limit = time.monotonic() + 20
    while len(programs.requests) < 3 and time.monotonic() < limit:
        time.sleep(0.02)
    second = programs.run("-p", "and", *MODEL, "--resume", ID)
    assert second.status != 0
    assert first.poll() is None


APPROVAL = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}


@pytest.mark.project(
    {
        ".claude/agents/worker.md": "---\nname: worker\ndescription: d\nhooks:\n  PreToolUse:\n    - hooks:\n"
        f"        - type: command\n          command: echo '{json.dumps(APPROVAL)}'\n---\nYou are WORKER.\n"
    }
)
@pytest.mark.parametrize("mode", ["default", "dontAsk"])
def test_a_hook_of_a_definition_approves_nothing(serve: Serve, project: Path, mode: str) -> None:
    """What a person would have to approve, or the mode refuses, stays so below."""
    programs = serve(
        *below(call("Bash", command="touch made"), {"text": "tried"}),
        orders(order(run_in_background=False)),
        {"text": "end"},
    )
    programs.run("-p", "go", *MODEL, "--permission-mode", mode)
    assert not (project / "made").exists()
