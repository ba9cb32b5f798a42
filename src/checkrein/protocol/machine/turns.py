"""Turns as the protocol shows them: prompt, output, why it ended, usage, refused calls."""

from __future__ import annotations

from typing import Any

from checkrein.base.errors import CheckreinError, ModelError, PolicyError
from checkrein.llm.port import Usage
from checkrein.protocol.machine.driver import Ran
from checkrein.protocol.machine.payloads import Compaction, Refusal, TokenUsage, Turn
from checkrein.protocol.machine.route import Routed
from checkrein.runtime.session.events import Denial, Result

_STOPS = {
    "completed": "completed",
    "max_turns": "max_turns_reached",
    "budget_exhausted": "max_budget_reached",
    "aborted_streaming": "cancelled",
    "aborted_tools": "cancelled",
    "hook_stopped": "hook_stopped",
    "tool_deferred": "tool_deferred",
}
"""Terminal reasons of the runtime that are not errors. Everything else is `failed`."""


def stop_reason(ran: Ran) -> str:
    """A turn that ended on its own keeps its reason, even when the limit passed at the same moment."""
    own = _STOPS.get(ran.result.terminal_reason, "failed") if ran.result is not None else "cancelled"
    if ran.refused:
        return "failed"
    if ran.late and own in ("cancelled", "failed"):
        return "cancelled" if ran.stop is not None else "timeout"
    return own


def turn_of(ran: Ran, routed: Routed, usage: Usage) -> Turn:
    result = ran.result
    structured = result.structured_output if result is not None else None
    reason = stop_reason(ran)
    compacted = ran.compactions[-1] if ran.compactions else None
    return Turn(
        prompt=ran.prompt,
        output=_text(result, structured),
        stop_reason=reason,
        cancel_observed=ran.late and ran.observed and reason in ("timeout", "cancelled"),
        matched_commands=tuple(match.name for match in routed.matches if match.kind != "tool"),
        matched_tools=tuple(match.name for match in routed.matches if match.kind == "tool"),
        usage=tokens(usage),
        permission_denials=tuple(refusal(denial) for denial in ran.denials),
        tool_calls=len(ran.tools),
        structured_output=structured,
        compaction=Compaction(True, compacted.trigger, compacted.tokens_before, compacted.tokens_after)
        if compacted
        else Compaction(False),
    )


def unstarted(prompt: str, routed: Routed, usage: Usage, reason: str, observed: bool) -> Turn:
    """A turn that did not start because a limit came first; the session is unchanged."""
    ran = Ran(prompt=prompt, result=None, late=True, observed=observed)
    import msgspec

    turn = turn_of(ran, routed, usage)
    return msgspec.structs.replace(turn, stop_reason=reason, cancel_observed=observed)


def failure_of(ran: Ran) -> CheckreinError:
    """Why a turn failed, as a typed error."""
    result = ran.result
    text = result.problem if result is not None else "The turn failed."
    if ran.refused:
        return PolicyError(result.text if result else text, kind="prompt_refused").during("deliver_prompt")
    if result is not None and result.terminal_reason == "structured_output_retry_exhausted":
        error: CheckreinError = ModelError(text, kind="structured_output_failed", retryable=True)
        return error.during("structured_output")
    if ran.failure is not None:
        return ran.failure.during("ask_model")
    return CheckreinError(text).during("run_turn")


def refusal(denial: Denial) -> Refusal:
    return Refusal(
        denial.tool_name,
        denial.reason,
        denial.tool_use_id,
        denial.tool_input,
        denial.rule,
        denial.origin,
    )


def tokens(usage: Usage) -> TokenUsage:
    return TokenUsage(usage.input, usage.output, usage.cache_creation, usage.cache_read)


def _text(result: Result | None, structured: Any) -> str:
    if structured is not None:
        import json

        return json.dumps(structured, indent=2, ensure_ascii=False, sort_keys=True)
    return result.text if result is not None else ""
