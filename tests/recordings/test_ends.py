"""One result on every path, and an exit status that agrees with it."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.programs import CHECKREIN, Programs, Ran, ended, hooks, recorded, slack

Serve = Callable[..., Programs]
JSON = ("--output-format", "json")
SLOW = {"text": "late", "delay": 30, "repeat": 0}
HI = {"text": "hi"}
QUICK = {"tool_calls": [{"name": "Bash", "input": {"command": "true"}}]}


def stopped(process: subprocess.Popen[str], *numbers: int, pause: float = 0.2) -> Ran:
    """End a process by signals; `seconds` count from the last one."""
    for number in numbers[:-1]:
        process.send_signal(number)
        time.sleep(pause)
    sent = time.monotonic()
    process.send_signal(numbers[-1])
    return ended(process, sent)


STUCK = "trap '' TERM INT; touch there; sleep 30; sleep 30"
PLACES: dict[str, tuple[tuple[dict[str, Any], ...], tuple[str, ...]]] = {
    "Setup hook": ((HI,), ("--init", *hooks("Setup", STUCK))),
    "SessionStart hook": ((HI,), hooks("SessionStart", STUCK)),
    "UserPromptSubmit hook": ((HI,), hooks("UserPromptSubmit", STUCK)),
    "PreToolUse hook": ((QUICK, HI), hooks("PreToolUse", STUCK)),
    "PostToolUse hook": ((QUICK, HI), hooks("PostToolUse", STUCK)),
    "Stop hook": ((HI,), hooks("Stop", STUCK)),
    "StopFailure hook": (({"fault": {"status": 400}},), hooks("StopFailure", STUCK)),
    "a tool": (({"tool_calls": [{"name": "Bash", "input": {"command": STUCK}}]}, HI), ()),
    "a stream": ((SLOW,), hooks("UserPromptSubmit", "touch there")),
    "back-off": (
        ({"fault": {"status": 429, "retry_after": 60}, "repeat": 0},),
        hooks("UserPromptSubmit", "touch there"),
    ),
    "the classifier": (
        ({"tool_calls": [{"name": "Bash", "input": {"command": "make all"}}]}, SLOW),
        ("--permission-mode", "auto", *hooks("PreToolUse", "touch there")),
    ),
    "a prompt hook": (
        (HI, SLOW),
        (
            "--settings",
            json.dumps(
                {
                    "hooks": {
                        "UserPromptSubmit": [{"hooks": [{"type": "command", "command": "touch there"}]}],
                        "Stop": [{"hooks": [{"type": "prompt", "prompt": "fine?"}]}],
                    }
                }
            ),
        ),
    ),
    "compaction": (
        ({**QUICK, "usage": {"input": 2_000_000}}, SLOW),
        hooks("PreCompact", "touch there"),
    ),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_run_wherever_it_is(serve: Serve, place: str, number: int) -> None:
    turns, words = PLACES[place]
    programs = serve(*turns)
    process = programs.start(
        "-p", "go", *JSON, "--allowedTools", *(() if "auto" in words else ("Bash",)), "x", *words
    )
    programs.await_file("there")
    time.sleep(0.4)
    ran = stopped(process, number)
    assert ran.seconds < 2.0 + slack()
    assert len(recorded()) == 1
    if place == "StopFailure hook":
        assert (ran.status, ran.result["terminal_reason"]) in (
            (1, "api_error"),
            (128 + number, "aborted_streaming"),
        )
        return
    assert (ran.status, ran.result["is_error"]) == (128 + number, True)
    assert ran.result["terminal_reason"] in ("aborted_streaming", "aborted_tools")


def test_a_second_signal_ends_it_at_once(serve: Serve) -> None:
    words = hooks("SessionEnd", "sleep 1; touch late", ("PostToolUseFailure", "sleep 5"))
    turns = ({"tool_calls": [{"name": "Bash", "input": {"command": STUCK}}]}, HI)
    programs = serve(*turns)
    process = programs.start("-p", "go", *JSON, "--allowedTools", "Bash", "x", *words)
    programs.await_file("there")
    ran = stopped(process, signal.SIGINT, signal.SIGINT)
    assert ran.seconds < 0.7 + slack()
    assert (ran.status, len(ran.results), len(recorded())) == (130, 1, 1)
    assert not (programs.project / "late").exists()


def test_a_signal_in_session_end_hooks_changes_nothing(serve: Serve) -> None:
    programs = serve(HI)
    process = programs.start("-p", "go", *JSON, *hooks("SessionEnd", STUCK))
    programs.await_file("there")
    ran = stopped(process, signal.SIGTERM)
    assert ran.seconds < 2.0 + slack()
    assert (ran.status, ran.result["subtype"]) == (0, "success")


def test_a_signal_before_the_session_exists(serve: Serve) -> None:
    """The program still reads its prompt."""
    for form, number in (("json", signal.SIGTERM), ("stream-json", signal.SIGINT), ("text", signal.SIGTERM)):
        process = serve(HI).start("-p", "--output-format", form, stdin=subprocess.PIPE)
        time.sleep(1.0 + slack())
        ran = stopped(process, number)
        assert ran.status == 128 + number
        assert signal.Signals(number).name in ran.stderr
        if form != "text":
            assert ran.result["is_error"]
        assert recorded() == []


@pytest.mark.parametrize(
    "place", ["SessionStart hook", "the classifier", "compaction", "a prompt hook", "a tool"]
)
def test_an_interrupt_of_a_program_is_the_same(serve: Serve, place: str) -> None:
    turns, words = PLACES[place]
    programs = serve(*turns)
    process = programs.start(
        *("-p", "--input-format", "stream-json", "--output-format", "stream-json"),
        *("--allowedTools", *(() if "auto" in words else ("Bash",)), "x", *words),
        stdin=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    user = {"type": "user", "message": {"role": "user", "content": "go"}}
    process.stdin.write(json.dumps(user) + "\n")
    process.stdin.flush()
    programs.await_file("there")
    time.sleep(0.4)
    request = {"type": "control_request", "request_id": "r1", "request": {"subtype": "interrupt"}}
    sent = time.monotonic()
    process.stdin.write(json.dumps(request) + "\n")
    process.stdin.flush()
    while (frame := json.loads(process.stdout.readline()))["type"] != "result":
        pass
    assert time.monotonic() - sent < 2.0 + slack()
    assert frame["terminal_reason"] in ("aborted_streaming", "aborted_tools")
    process.stdin.close()
    assert process.wait(10) == 1


def shell(programs: Programs, line: str, *words: str, env: dict[str, str] | None = None) -> Ran:
    """Run `checkrein` through a shell line that prepares its surroundings; `"$@"` is the program."""
    began = time.monotonic()
    process = subprocess.Popen(
        ["/bin/sh", "-c", line, "sh", *CHECKREIN, "-p", "go", *words],
        cwd=programs.project,
        env={**programs.env(), **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    return ended(process, began)


@pytest.mark.parametrize("blocks", [0, 2, 4, 8])
def test_a_full_disk(serve: Serve, blocks: int) -> None:
    """No file can grow beyond so many blocks: from the start, or in the middle of the session."""
    turns = ({**QUICK, "text": "x" * 1000}, {**QUICK, "text": "y" * 3000}, HI)
    ran = shell(serve(*turns), f'ulimit -f {blocks}; exec "$@"', *JSON, "--allowedTools", "Bash")
    assert (ran.status, ran.result["is_error"]) == (1, True)
    assert "too large" in str(ran.result["errors"]) + str(ran.result.get("result"))
    assert "Traceback" not in ran.stderr


def test_a_home_that_is_a_file(serve: Serve, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ran = serve(HI).run("-p", "go", *JSON, env={"CHECKREIN_HOME": str(tmp_path / "file")})
    assert (ran.status, ran.result["is_error"]) == (1, True)
    assert str(tmp_path / "file") in ran.result["errors"][0]


def test_a_directory_that_is_gone(serve: Serve) -> None:
    programs = serve(HI)
    ran = shell(programs, 'mkdir gone && cd gone && rmdir ../gone && exec "$@"', *JSON)
    assert (ran.status, ran.result["is_error"]) == (1, True)
    assert "no longer exists" in ran.result["errors"][0]


def test_a_directory_that_goes_while_it_works(serve: Serve) -> None:
    programs = serve({"tool_calls": [{"name": "Bash", "input": {"command": "rmdir ../gone"}}]}, QUICK, HI)
    line = 'mkdir gone && cd gone && exec "$@"'
    ran = shell(programs, line, *JSON, "--dangerously-skip-permissions")
    assert len(ran.results) == 1
    assert ran.status == (1 if ran.result["is_error"] else 0)


def test_a_script_that_drifts(serve: Serve) -> None:
    drift = {"text": "ok", "expect": {"text": "something else"}}
    ran = serve(drift).run("-p", "go", *JSON)
    assert (ran.status, ran.result["terminal_reason"]) == (1, "api_error")
    script = Path(os.environ["HOME"]) / "script.jsonl"
    script.write_text(json.dumps(drift))
    local = Programs(serve(HI).project).run("-p", "go", *JSON, "--model", f"scripted:{script}")
    assert (local.status, local.result["terminal_reason"]) == (1, "api_error")
    assert "should" in local.result["result"]


def test_a_prompt_that_is_not_text(serve: Serve) -> None:
    programs = serve({"text": "ok", "expect": {"text": "a\N{REPLACEMENT CHARACTER}b"}})
    began = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "checkrein", "-p", b"a\xffb", *JSON],
        cwd=programs.project,
        env=programs.env(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    ran = ended(process, began)
    assert (ran.status, ran.result["result"]) == (0, "ok")


@pytest.mark.parametrize("jump", ["2020-01-01T00:00:00Z", "2040-01-01T00:00:00Z"])
def test_a_clock_that_jumps_back(serve: Serve, jump: str) -> None:
    """A session from the future is older than every other: `--continue` takes the one that was last."""
    programs = serve(*({"text": "ok"},) * 4, {"text": "ok", "expect": {"first_text": "second"}})
    first = programs.run("-p", "first", *JSON, env={"CHECKREIN_CLOCK": "2030-01-01T00:00:00Z"})
    second = programs.run("-p", "second", *JSON, env={"CHECKREIN_CLOCK": jump})
    now = {"CHECKREIN_CLOCK": jump.replace("01T", "02T")}
    went_on = programs.run("-p", "third", *JSON, "--continue", env=now)
    assert went_on.result["session_id"] == second.result["session_id"] != first.result["session_id"]


@pytest.mark.parametrize(("number", "limit"), [(signal.SIGINT, None), (signal.SIGTERM, None), (0, "2")])
def test_the_end_of_a_question_at_the_terminal(project: Path, number: int, limit: str | None) -> None:
    """Neither a signal nor the time limit waits for the answer."""
    script = Path(os.environ["HOME"]) / "script.jsonl"
    script.write_text(json.dumps({"tool_calls": [{"name": "Bash", "input": {"command": "make it"}}]}))
    controller, terminal = pty.openpty()
    words = ("run", "go", "--model", f"scripted:{script}", *(("--max-seconds", limit) if limit else ()))
    process = subprocess.Popen(
        [*CHECKREIN, *words], cwd=project, stdin=terminal, stdout=terminal, stderr=terminal
    )
    os.close(terminal)
    seen = b""
    while b"Allow this once" not in seen:
        seen += os.read(controller, 4096)
    sent = time.monotonic()
    if number:
        process.send_signal(number)
    with contextlib.suppress(OSError):
        while piece := os.read(controller, 4096):
            seen += piece
    assert process.wait(10) == (128 + number if number else 1)
    assert time.monotonic() - sent < 2.0 + slack() + float(limit or 0)
    assert b"Fatal" not in seen
    assert (b"aborted_tools" if number else b"budget_exhausted") in seen
    os.close(controller)


@pytest.mark.parametrize("limit", [None, "2"])
def test_a_reader_that_does_not_read(serve: Serve, limit: str | None) -> None:
    """The run exits in time, although nobody takes its output."""
    programs = serve({"text": "x" * 400_000})
    words = ("--max-seconds", limit) if limit else ()
    process = programs.start("-p", "go", "--output-format", "stream-json", *words)
    time.sleep(1.5 + slack())
    sent = time.monotonic()
    if limit is None:
        process.send_signal(signal.SIGTERM)
    assert process.wait(15) == (1 if limit else 143)
    assert time.monotonic() - sent < 2.0 + slack() + float(limit or 0)
