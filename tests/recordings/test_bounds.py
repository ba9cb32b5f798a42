"""Limits hold everywhere: a run ends within its time, whatever it waits for, and says what it did."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from support.programs import Programs, hooks, recorded, slack

Serve = Callable[..., Programs]
SLOW = 30
SECONDS = 1.5
BASH = {"tool_calls": [{"name": "Bash", "input": {"command": "sleep 30"}}]}
HI = {"text": "hi"}
LIMITED = ("--max-seconds", str(SECONDS), "--output-format", "json")


FULL = {"text": "x", "usage": {"input": 190_000}}
WAITS: dict[str, tuple[tuple[dict[str, Any], ...], tuple[str, ...]]] = {
    "the answer": (({"text": "late", "delay": SLOW},), ()),
    "between two bytes": (({"text": "a b c", "chunk": 1, "fault": {"silent": SLOW, "after": 4}},), ()),
    "a slow reply": (({"text": "abcdefghij" * 20, "chunk": 1, "pace": 0.2},), ()),
    "back-off": (({"fault": {"status": 529}, "repeat": 0},), ()),
    "retry-after": (({"fault": {"status": 429, "retry_after": 60}, "repeat": 0},), ()),
    "Bash": ((BASH, HI), ("--allowedTools", "Bash")),
    "Bash that ignores SIGTERM": (
        ({"tool_calls": [{"name": "Bash", "input": {"command": "trap '' TERM; sleep 30; sleep 30"}}]}, HI),
        ("--allowedTools", "Bash"),
    ),
    "Setup hook": ((HI,), ("--init", *hooks("Setup", "sleep 30"))),
    "SessionStart hook": ((HI,), hooks("SessionStart", "sleep 30")),
    "UserPromptSubmit hook": ((HI,), hooks("UserPromptSubmit", "sleep 30")),
    "PreToolUse hook": ((BASH, HI), ("--allowedTools", "Bash", *hooks("PreToolUse", "sleep 30"))),
    "PostToolUse hook": (
        ({"tool_calls": [{"name": "Bash", "input": {"command": "true"}}]}, HI),
        ("--allowedTools", "Bash", *hooks("PostToolUse", "trap '' TERM; sleep 30; sleep 30")),
    ),
    "Stop hook": ((HI,), hooks("Stop", "sleep 30")),
    "StopFailure hook": (({"fault": {"status": 400}},), hooks("StopFailure", "sleep 30")),
    "the classifier": (
        (
            {"tool_calls": [{"name": "Bash", "input": {"command": "make all"}}]},
            {"text": "allow", "delay": SLOW, "repeat": 0},
        ),
        ("--permission-mode", "auto"),
    ),
    "a prompt hook": (
        (HI, {"text": "{}", "delay": SLOW, "repeat": 0}),
        (
            "--settings",
            json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "prompt", "prompt": "all right?"}]}]}}),
        ),
    ),
}


@pytest.mark.parametrize("place", WAITS)
def test_max_seconds_binds_every_wait(serve: Serve, place: str) -> None:
    turns, words = WAITS[place]
    ran = serve(*turns).run("-p", "go", *LIMITED, *words)
    assert ran.seconds < SECONDS + 2.5 + slack()  # and the start of the program
    assert (ran.status, ran.result["is_error"]) == (1, True)
    if place != "StopFailure hook":
        assert ran.result["terminal_reason"] == "budget_exhausted"
        assert "1.5 seconds" in ran.result["errors"][0]
    assert len(recorded()) == 1


def test_max_seconds_binds_compaction(serve: Serve) -> None:
    call = {"tool_calls": [{"name": "Bash", "input": {"command": "echo 1"}}], "usage": {"input": 2_000_000}}
    programs = serve(call, {"text": "summary", "delay": SLOW, "repeat": 0})
    ran = programs.run("-p", "go", *LIMITED, "--allowedTools", "Bash")
    assert ran.seconds < SECONDS + 2.5 + slack()
    assert (ran.status, ran.result["terminal_reason"]) == (1, "budget_exhausted")
    assert "summary" in str(programs.requests[-1].body).lower()


def test_a_limit_carries_what_was_done(serve: Serve) -> None:
    said = {"text": "First I look.", **BASH}
    ran = serve(said, HI).run("-p", "go", *LIMITED, "--allowedTools", "Bash")
    assert ran.result["result"] == "First I look."
    assert ran.result["num_turns"] == 2
    assert ran.result["usage"]["output_tokens"] > 0


def test_a_limit_in_a_reply_keeps_its_text(serve: Serve) -> None:
    ran = serve({"text": "one two three four", "chunk": 4, "pace": 0.4}).run("-p", "go", *LIMITED)
    assert ran.result["result"].startswith("one ")
    text = serve({"text": "one two three four", "chunk": 4, "pace": 0.4}).run(
        "-p", "go", "--max-seconds", "1.5"
    )
    assert text.stdout.startswith("one ")
    assert "1.5 seconds" in text.stderr


@pytest.mark.parametrize(
    ("key", "value", "subtype"),
    [
        ("MAX_TURNS", "1", "error_max_turns"),
        ("MAX_USD", "0.0001", "error_max_budget_usd"),
        ("MAX_SECONDS", "1.5", "error_during_execution"),
    ],
)
def test_limits_of_the_configuration(serve: Serve, key: str, value: str, subtype: str) -> None:
    quick = {"tool_calls": [{"name": "Bash", "input": {"command": "sleep 0.2"}}], "repeat": 0}
    programs = serve(quick)
    words = ("-p", "go", "--output-format", "json", "--allowedTools", "Bash", "--model", "anthropic:sonnet")
    ran = programs.run(*words, env={f"CHECKREIN_SESSION__{key}": value})
    assert (ran.status, ran.result["subtype"]) == (1, subtype)
    free = programs.run(*words, "--max-turns", "2", env={"CHECKREIN_SESSION__MAX_TURNS": "1"})
    assert free.result["num_turns"] == 3  # the flag wins


def test_repair_of_structured_output_ends(serve: Serve) -> None:
    bad = {"tool_calls": [{"name": "StructuredOutput", "input": {"n": "no"}}], "repeat": 0}
    programs = serve(bad)
    schema = '{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}'
    ran = programs.run("-p", "go", "--output-format", "json", "--json-schema", schema)
    assert (ran.status, ran.result["subtype"]) == (1, "error_max_structured_output_retries")
    assert len(programs.requests) == 6
    few = serve(bad).run("-p", "go", "--output-format", "json", "--json-schema", schema, "--max-turns", "2")
    assert (few.status, few.result["subtype"]) == (1, "error_max_turns")


def test_words_instead_of_structured_output_count_as_requests(serve: Serve) -> None:
    programs = serve({"text": "no", "repeat": 0})
    schema = '{"type":"object"}'
    ran = programs.run("-p", "go", "--output-format", "json", "--json-schema", schema, "--max-turns", "2")
    assert (ran.status, ran.result["subtype"]) == (1, "error_max_turns")
    assert len(programs.requests) == 2


def test_a_pause_counts_as_a_request(serve: Serve) -> None:
    programs = serve({"text": "wait", "stop_reason": "pause_turn", "repeat": 0})
    ran = programs.run("-p", "go", "--output-format", "json", "--max-turns", "4")
    assert (ran.status, ran.result["subtype"]) == (1, "error_max_turns")
    assert len(programs.requests) == 4


def test_the_next_model_after_three_tries(serve: Serve) -> None:
    fault = {"fault": {"status": 529}, "when": {"model": "sonnet"}, "repeat": 0}
    programs = serve(fault, {"text": "from the other"})
    ran = programs.run(
        *("-p", "go", "--output-format", "json"), *("--model", "sonnet", "--fallback-model", "haiku")
    )
    assert (ran.status, ran.result["result"]) == (0, "from the other")
    assert len(programs.requests) == 4
    assert ran.seconds < 10


def test_waits_are_told_on_standard_error(serve: Serve) -> None:
    turns = ({"fault": {"status": 529}}, {"text": "ok"})
    for form in ("text", "json", "stream-json"):
        ran = serve(*turns).run("-p", "go", "--output-format", form)
        assert ran.status == 0
        assert "529" in ran.stderr
        assert "Trying again in" in ran.stderr


def test_waits_are_told_as_frames(serve: Serve) -> None:
    programs = serve({"fault": {"status": 529}}, {"text": "ok"})
    import subprocess

    began = time.monotonic()
    process = programs.start(
        *("-p", "--input-format", "stream-json", "--output-format", "stream-json"), stdin=subprocess.PIPE
    )
    line = json.dumps({"type": "user", "message": {"role": "user", "content": "go"}})
    stdout, stderr = process.communicate(line + "\n", timeout=30)
    frames = [json.loads(one) for one in stdout.splitlines()]
    assert [frame["error_status"] for frame in frames if frame.get("subtype") == "api_retry"] == [529]
    assert stderr == ""
    assert time.monotonic() - began < 10
