"""Each adapter against the scripted endpoint, over a real socket."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

from checkrein.llm.content import Text, Thinking, ToolUse
from checkrein.llm.port import (
    BlockCompleted,
    BlockStarted,
    Cancel,
    Finished,
    Model,
    ModelRequestError,
    Request,
    Started,
    TextDelta,
    UsageReport,
    collect,
)
from checkrein.llm.server import ScriptedServer

from .conftest import KEY, SHORT, model_for

Serve = Callable[..., tuple[Model, ScriptedServer]]


def fail(model: Model, request: Request) -> ModelRequestError:
    with pytest.raises(ModelRequestError) as caught:
        collect(model.stream(request, Cancel()))
    return caught.value


def test_text_thinking_and_calls(serve: Serve, ask: Request, wire: str) -> None:
    calls = [{"name": "Bash", "input": {"command": "echo é"}}, {"name": "Read", "input": {"n": [1, None]}}]
    model, server = serve({"thinking": "hm …", "text": "hello", "tool_calls": calls, "chunk": 2})
    events = list(model.stream(ask, Cancel()))
    assert isinstance(events[0], Started)
    assert isinstance(events[-1], Finished)
    reply = collect(events)
    thinking, text, *uses = reply.content
    assert isinstance(thinking, Thinking)
    assert thinking.thinking == "hm …"
    assert bool(thinking.signature) == (wire != "chat")
    assert text == Text("hello")
    assert [(use.name, use.input) for use in uses if isinstance(use, ToolUse)] == [
        ("Bash", {"command": "echo é"}),
        ("Read", {"n": [1, None]}),
    ]
    assert reply.stop_reason == "tool_use"
    assert [e.text for e in events if isinstance(e, TextDelta)] == ["he", "ll", "o"]
    assert [e.index for e in events if isinstance(e, BlockStarted)] == [0, 1, 2, 3]
    assert [e.index for e in events if isinstance(e, BlockCompleted)] == [0, 1, 2, 3]
    assert server.failures == []


def test_usage(serve: Serve, ask: Request) -> None:
    usage = {"input": 7, "output": 11, "cache_read": 5, "cache_creation": 3}
    model, _ = serve({"text": "x", "usage": usage})
    events = list(model.stream(ask, Cancel()))
    found = collect(events).usage
    assert (found.input, found.output, found.cache_read, found.cache_creation) == (7, 11, 5, 3)
    assert [e for e in events if isinstance(e, UsageReport)][-1].usage == found


def test_connection_is_kept_for_the_next_request(serve: Serve, ask: Request) -> None:
    model, server = serve({"text": "x", "repeat": 0})
    for _ in range(5):
        collect(model.stream(ask, Cancel()))
    assert server.connections == 1


def test_stale_connection_is_replaced_silently(serve: Serve, ask: Request) -> None:
    model, server = serve({"text": "x", "repeat": 0})
    collect(model.stream(ask, Cancel()))
    server.drop_connections()
    assert collect(model.stream(ask, Cancel())).text == "x"
    assert server.connections == 2


@pytest.mark.parametrize(
    ("status", "kind", "retryable"),
    [
        (429, "rate_limit", True),
        (529, "overloaded", True),
        (500, "server_error", True),
        (503, "server_error", True),
        (400, "invalid_request", False),
        (401, "authentication_failed", False),
        (403, "authentication_failed", False),
        (402, "billing_error", False),
        (404, "model_not_found", False),
        (413, "prompt_too_long", False),
    ],
)
def test_refusals(serve: Serve, ask: Request, status: int, kind: str, retryable: bool) -> None:
    model, _ = serve({"fault": {"status": status, "retry_after": 2.5}}, {"text": "after"})
    error = fail(model, ask)
    assert (error.kind, error.retryable, error.status, error.retry_after) == (kind, retryable, status, 2.5)
    assert collect(model.stream(ask, Cancel())).text == "after"


def test_cut_in_the_middle_keeps_what_was_whole(serve: Serve, ask: Request) -> None:
    calls = [{"name": "A", "input": {}}, {"name": "B", "input": {"long": "x" * 50}}]
    model, _ = serve({"text": "whole", "tool_calls": calls, "chunk": 10, "fault": {"cut": True, "after": 11}})
    error = fail(model, ask)
    assert (error.kind, error.retryable) == ("dropped", True)
    assert Text("whole") in error.completed
    assert not any(isinstance(block, ToolUse) and block.name == "B" for block in error.completed)


@pytest.mark.parametrize(("after", "kind"), [(0, "transport"), (1, "dropped"), (2, "dropped")])
def test_cut_early(serve: Serve, ask: Request, after: int, kind: str) -> None:
    model, _ = serve({"text": "x", "fault": {"cut": True, "after": after}})
    error = fail(model, ask)
    assert (error.kind, error.retryable, error.completed) == (kind, True, ())


def test_malformed_event(serve: Serve, ask: Request) -> None:
    model, _ = serve({"text": "x", "fault": {"malformed": True}})
    assert fail(model, ask).kind == "malformed_stream"


def test_oversized_event(serve: Serve, ask: Request) -> None:
    model, _ = serve({"text": "x", "fault": {"oversized": 17 * 1024 * 1024}})
    error = fail(model, ask)
    assert error.kind == "malformed_stream"
    assert "more than" in error.message


def test_error_event_in_the_stream(serve: Serve, ask: Request) -> None:
    model, _ = serve({"text": "x", "fault": {"error": "overloaded_error", "message": "too busy", "after": 2}})
    error = fail(model, ask)
    assert (error.kind, error.retryable) == ("overloaded", True)
    assert "too busy" in error.message


def test_wrong_content_type(serve: Serve, ask: Request) -> None:
    model, _ = serve({"text": "x", "fault": {"content_type": "text/html"}})
    error = fail(model, ask)
    assert (error.kind, error.retryable) == ("model_not_found", False)
    assert "text/html" in error.message


def test_empty_reply(serve: Serve, ask: Request) -> None:
    model, _ = serve({})
    reply = collect(model.stream(ask, Cancel()))
    assert (reply.content, reply.stop_reason) == ((), "end_turn")


def test_unknown_stop_reason(serve: Serve, ask: Request) -> None:
    model, _ = serve({"text": "x", "stop_reason": "solar_flare"})
    reply = collect(model.stream(ask, Cancel()))
    assert (reply.stop_reason, reply.raw_stop_reason) == ("unknown", "solar_flare")


@pytest.mark.parametrize("reason", ["max_tokens", "refusal"])
def test_known_stop_reasons(serve: Serve, ask: Request, reason: str) -> None:
    model, _ = serve({"text": "x", "stop_reason": reason})
    assert collect(model.stream(ask, Cancel())).stop_reason == reason


@pytest.mark.parametrize("arguments", ['{"a": ', "[1]", '"text"', "nonsense"])
def test_tool_call_with_broken_json(serve: Serve, ask: Request, arguments: str) -> None:
    model, _ = serve({"tool_calls": [{"name": "Bash", "arguments": arguments}]})
    (call,) = collect(model.stream(ask, Cancel())).tool_calls
    assert (call.input, call.broken) == ({}, arguments)


def test_silent_stream(serve: Serve, ask: Request, wire: str) -> None:
    _, server = serve({"text": "x", "fault": {"silent": 5.0}})
    error = fail(model_for(wire, server.url, SHORT), ask)
    assert (error.kind, error.retryable) == ("idle_timeout", True)
    assert "0.3 s" in error.message


def test_silence_within_the_limit_is_no_fault(serve: Serve, ask: Request) -> None:
    model, _ = serve({"text": "x", "fault": {"silent": 0.05}})
    assert collect(model.stream(ask, Cancel())).text == "x"


def test_slow_headers(serve: Serve, ask: Request, wire: str) -> None:
    _, server = serve({"text": "x", "delay": 5.0})
    error = fail(model_for(wire, server.url, SHORT), ask)
    assert error.kind == "idle_timeout"
    assert "0.4 s" in error.message


def test_nothing_is_sent_before_the_first_next(serve: Serve, ask: Request) -> None:
    model, server = serve({"text": "x"})
    events = model.stream(ask, Cancel())
    assert server.requests == []
    next(events)
    assert len(server.requests) == 1


@pytest.mark.parametrize("turn", [{"text": "x", "fault": {"silent": 60.0}}, {"text": "x", "delay": 60.0}])
def test_cancel_ends_a_blocked_read(wire: str, ask: Request, turn: dict[str, Any]) -> None:
    with ScriptedServer([turn]) as server:
        model, cancel = model_for(wire, server.url), Cancel()
        timer = threading.Timer(0.1, cancel.cancel)
        timer.start()
        with pytest.raises(ModelRequestError) as caught:
            collect(model.stream(ask, cancel))
        assert caught.value.kind == "cancelled"
        timer.join()


def test_cancelled_before_it_starts(serve: Serve, ask: Request) -> None:
    model, _ = serve({"text": "x"})
    cancel = Cancel()
    cancel.cancel()
    with pytest.raises(ModelRequestError) as caught:
        collect(model.stream(ask, cancel))
    assert caught.value.kind == "cancelled"


def test_leaving_a_stream_early_gives_up_its_connection(serve: Serve, ask: Request) -> None:
    model, server = serve({"text": "x", "fault": {"silent": 1.0, "after": 2}}, {"text": "next"})
    events = model.stream(ask, Cancel())
    next(events)
    events.close()  # type: ignore[attr-defined]
    assert collect(model.stream(ask, Cancel())).text == "next"
    assert server.connections == 2


def test_key_appears_nowhere(serve: Serve, ask: Request) -> None:
    model, server = serve({"fault": {"status": 401, "message": f"invalid key {KEY}"}})
    error = fail(model, ask)
    assert error.error_class == "auth"
    for text in (str(error), repr(error), repr(model), repr(server.requests)):
        assert KEY not in text


def test_two_threads_at_once(serve: Serve, ask: Request) -> None:
    model, server = serve({"text": "x", "repeat": 0, "delay": 0.05})
    found: list[str] = []
    threads = [
        threading.Thread(target=lambda: found.append(collect(model.stream(ask, Cancel())).text))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["x"] * 6
    assert server.connections == 6
