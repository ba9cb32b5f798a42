"""The whole table of the state machine."""

from __future__ import annotations

import pytest

from checkrein.llm.port import Limits, ModelRequestError, Reply, Text, ToolUse, Usage
from checkrein.runtime.session.state import OUTPUT_RECOVERIES, STRUCTURED_TRIES, State
from checkrein.runtime.turn.request import Asked
from checkrein.runtime.turn.transitions import judge

TOOL = ToolUse("1", "Bash", {})


def reply(stop: str = "end_turn", *content: Text | ToolUse) -> Reply:
    return Reply("m", "model", content or (Text("hi"),), stop, Usage())  # type: ignore[arg-type]


def asked(reply: Reply | None = None, error: ModelRequestError | None = None) -> Asked:
    return Asked(reply, error, 0.0, 1)


def name(state: State, what: Asked, *, fallbacks: int = 0, structured: bool = False) -> str:
    return judge(state, what, fallbacks=fallbacks, structured=structured).name


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        (reply("end_turn"), "done"),
        (reply("tool_use", TOOL), "tool_use"),
        (reply("end_turn", Text("a"), TOOL), "tool_use"),
        (reply("max_tokens", TOOL), "tool_use"),
        (reply("max_tokens"), "output_limit"),
        (reply("pause_turn"), "pause"),
        (reply("refusal"), "done"),
        (reply("unknown"), "done"),
        (reply("stop_sequence"), "done"),
        (reply("window_exceeded"), "prompt_too_long"),
    ],
)
def test_after_a_reply(what: Reply, expected: str) -> None:
    assert name(State("m"), asked(what)) == expected


@pytest.mark.parametrize(
    ("kind", "fallbacks", "expected"),
    [
        ("cancelled", 1, "interrupted"),
        ("prompt_too_long", 0, "prompt_too_long"),
        ("overloaded", 1, "fallback"),
        ("overloaded", 0, "failed"),
        ("rate_limit", 2, "fallback"),
        ("model_not_found", 1, "fallback"),
        ("authentication_failed", 1, "failed"),
        ("invalid_request", 1, "failed"),
        ("dropped", 1, "fallback"),
        ("dropped", 0, "failed"),
    ],
)
def test_after_a_failure(kind: str, fallbacks: int, expected: str) -> None:
    error = ModelRequestError(kind, "x")  # type: ignore[arg-type]
    assert name(State("m"), asked(None, error), fallbacks=fallbacks) == expected


def test_a_cut_stream_keeps_what_was_whole() -> None:
    error = ModelRequestError("dropped", "cut")
    assert name(State("m"), asked(reply("unknown", Text("part")), error)) == "output_limit"
    assert name(State("m"), asked(reply("tool_use", TOOL), error)) == "tool_use"


def test_output_recovery_is_bounded() -> None:
    state = State("m")
    state.output_recoveries = OUTPUT_RECOVERIES
    assert name(state, asked(reply("max_tokens"))) == "failed"


def test_window_exceeded_shrinks_the_output_until_it_is_too_small() -> None:
    state = State("m")
    error = ModelRequestError("window_exceeded", "x", limits=Limits(90_000, 32_000, 100_000))
    step = judge(state, asked(None, error), fallbacks=0, structured=False)
    assert (step.name, step.detail) == ("window_exceeded", "10000")
    tight = ModelRequestError("window_exceeded", "x", limits=Limits(99_900, 32_000, 100_000))
    assert name(state, asked(None, tight)) == "prompt_too_long"
    state.max_tokens = 10_000
    assert name(state, asked(None, error)) == "prompt_too_long"


def test_structured_output_is_asked_for_and_bounded() -> None:
    state = State("m")
    assert name(state, asked(reply()), structured=True) == "structured_output"
    state.structured_tries = STRUCTURED_TRIES
    step = judge(state, asked(reply()), fallbacks=0, structured=True)
    assert (step.name, step.detail) == ("failed", "structured_output")
    state.structured_output = {"a": 1}
    assert name(state, asked(reply()), structured=True) == "done"
