"""Makes the one terminal result of a run from the last transition of the loop."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from msgspec.structs import replace

from checkrein.runtime.session.events import Result, Subtype, Transition

if TYPE_CHECKING:
    from checkrein.runtime.session.conversation import Conversation
    from checkrein.runtime.turn.turn import SessionTurn

_LIMITS: dict[str, tuple[Subtype, str]] = {
    "requests": ("error_max_turns", "max_turns"),
    "usd": ("error_max_budget_usd", "budget_exhausted"),
    "tokens": ("error_during_execution", "budget_exhausted"),
    "seconds": ("error_during_execution", "budget_exhausted"),
}


def make_result(conversation: Conversation, turn: SessionTurn, step: Transition, began: float) -> Result:
    state, meter = conversation.state, conversation.meter
    subtype, is_error, reason, errors = outcome(step, state.errors, conversation)
    requests = 1 + meter.requests - turn.requests_before + state.stop_blocks
    return Result(
        subtype=subtype,
        is_error=is_error,
        session_id=conversation.recorder.writer.session_id,
        text=_text(conversation, step),
        stop_reason=turn.stop_reason,
        terminal_reason=reason,
        requests=requests if state.blocked_prompt is None else 0,
        duration_ms=int((time.monotonic() - began) * 1000),
        model_ms=int(meter.model_seconds * 1000),
        first_request_ms=_since(began, turn.first_request_at),
        first_token_ms=_since(turn.first_request_at, turn.first_token_at),
        usage=meter.usage,
        by_model=meter.by_model,
        by_agent=meter.by_agent,
        cost_usd=meter.cost,
        denials=tuple(state.denials),
        errors=tuple(errors),
        structured_output=state.structured_output,
        deferred=turn.deferred,
        status_code=state.status_code,
        skipped=conversation.services.skipped,
    )


def refused_result(conversation: Conversation, reason: str, *, cut: bool = False) -> Result:
    """The result of a prompt that never became a turn."""
    meter = conversation.meter
    return Result(
        subtype="error_during_execution",
        is_error=True,
        session_id=conversation.session_id,
        terminal_reason="aborted_streaming" if cut else "turn_setup_failed",
        usage=meter.usage,
        by_model=meter.by_model,
        by_agent=meter.by_agent,
        cost_usd=meter.cost,
        errors=(reason,),
        skipped=conversation.services.skipped,
    )


def unrecorded(result: Result, problem: str) -> Result:
    """The result of a session whose transcript lacks its end. That is an error, whatever the model said."""
    subtype: Subtype = "error_during_execution" if result.subtype == "success" else result.subtype
    reason = result.terminal_reason if result.is_error else "turn_setup_failed"
    return replace(
        result, subtype=subtype, is_error=True, terminal_reason=reason, errors=(*result.errors, problem)
    )


def outcome(
    step: Transition, errors: list[str], conversation: Conversation
) -> tuple[Subtype, bool, str, list[str]]:
    """Subtype, whether it is an error, the terminal reason, and the messages."""
    match step.name:
        case "done":
            return "success", False, "completed", []
        case "deferred":
            return "success", False, "tool_deferred", []
        case "hook_stopped":
            return "success", False, "hook_stopped", []
        case "limit":
            subtype, reason = _LIMITS[step.detail]
            return subtype, True, reason, [f"Reached the limit of {_named(step.detail, conversation)}."]
        case "repeated":
            return "error_during_execution", True, "repeated_calls", [step.detail]
        case "interrupted":
            reason = "aborted_streaming" if conversation.state.last is None else "aborted_tools"
            return "error_during_execution", True, reason, ["Interrupted by the user."]
    if step.detail == "structured_output":
        text = "The model gave no output that fits the schema."
        return "error_max_structured_output_retries", True, "structured_output_retry_exhausted", [text]
    if step.detail == "tool_deferred_unavailable":
        return "success", True, step.detail, ["The tool of the call that was put off is gone."]
    if step.detail.startswith("prompt too long"):
        return "success", True, "prompt_too_long", errors
    if conversation.state.requests:
        return "success", True, "api_error", errors or [step.detail]
    return "error_during_execution", True, "turn_setup_failed", errors or [step.detail]


def _named(limit: str, conversation: Conversation) -> str:
    """A limit in words. That of another conversation of the tree has no number here."""
    value = getattr(conversation.meter.budget, limit)
    return limit if value is None else f"{value:g} {'USD' if limit == 'usd' else limit}"


def _text(conversation: Conversation, step: Transition) -> str:
    state = conversation.state
    if state.blocked_prompt is not None:
        return state.blocked_prompt
    if step.name in ("hook_stopped", "deferred"):
        return ""
    return state.words if step.name in ("failed", "limit", "repeated", "interrupted") else state.text


def _since(start: float | None, end: float | None) -> int:
    return int((end - start) * 1000) if start is not None and end is not None else 0
