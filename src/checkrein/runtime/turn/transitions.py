"""Which transition follows a reply or a failure. Pure: the whole table of the state machine is here."""

from __future__ import annotations

from checkrein.llm.port import Cancel, ModelRequestError, Reply
from checkrein.runtime.session.events import Transition
from checkrein.runtime.session.state import OUTPUT_RECOVERIES, STRUCTURED_TRIES, State
from checkrein.runtime.turn.request import Asked

_SMALLEST_OUTPUT = 1024


def judge(state: State, asked: Asked, *, fallbacks: int, structured: bool) -> Transition:
    """The next transition. `fallbacks` counts the other models left; `structured`: output is due."""
    if asked.reply is not None and (asked.error is None or asked.reply.content):
        return _after_reply(state, asked.reply, structured, asked.error)
    assert asked.error is not None
    return _after_failure(state, asked.error, fallbacks)


def _after_reply(state: State, reply: Reply, structured: bool, error: ModelRequestError | None) -> Transition:
    if reply.tool_calls:
        return Transition("tool_use", f"{len(reply.tool_calls)} call(s)")
    if reply.stop_reason == "window_exceeded":
        return Transition("prompt_too_long", "the context window is full")
    if error is not None and error.kind == "reply_too_large":
        return Transition("failed", error.message)
    if reply.stop_reason == "max_tokens" or error is not None:
        if state.output_recoveries >= OUTPUT_RECOVERIES:
            return Transition("failed", "the reply was cut off too often")
        return Transition("output_limit", "the stream broke off" if error else "the reply reached its limit")
    if reply.stop_reason == "pause_turn":
        return Transition("pause", "the service paused a long turn")
    if structured and state.structured_output is None and reply.stop_reason != "refusal":
        if state.structured_tries >= STRUCTURED_TRIES:
            return Transition("failed", "structured_output")
        return Transition("structured_output", "the model gave no structured output yet")
    return Transition("done", reply.stop_reason)


def _after_failure(state: State, error: ModelRequestError, fallbacks: int) -> Transition:
    if error.kind == "cancelled":
        return Transition("interrupted", "by the user")
    if error.kind == "prompt_too_long":
        return Transition("prompt_too_long", error.message)
    if error.kind == "window_exceeded":
        limits = error.limits
        room = (limits.window - limits.prompt) if limits and limits.window and limits.prompt else 0
        if room >= _SMALLEST_OUTPUT and (state.max_tokens is None or room < state.max_tokens):
            return Transition("window_exceeded", str(room))
        return Transition("prompt_too_long", error.message)
    if falls_back(error, fallbacks):
        return Transition("fallback", error.message)
    return Transition("failed", error.message)


def falls_back(error: ModelRequestError, fallbacks: int) -> bool:
    """Whether another model may succeed where this one failed."""
    return fallbacks > 0 and (error.retryable or error.kind == "model_not_found")


def stopped(cancel: Cancel) -> Transition:
    """The end of a turn that was cancelled."""
    return (
        Transition("limit", "seconds")
        if cancel.why == "deadline"
        else Transition("interrupted", "by the user")
    )
