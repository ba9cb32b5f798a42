"""How one attempt of a step ended, and what the answer of a tool means for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec
from msgspec import Struct

State = Literal["success", "failure", "context_limit", "again", "later"]
"""`again`: the same call may well succeed now, and costs one of the step's retries. `later`: it may after a
pause, which costs none."""

_CONTEXT = ("resume", "drain_race", "context_exhausted")
_AGAIN = ("stale", "idle_stall")
_LATER = ("quota_reached", "rate_limited")
_PAUSE = 60.0
_SHOWN = 2_000
_LARGEST = 1e15
"""Of a number that counts money, tokens or seconds; nothing is larger, and neither is infinity."""


class Outcome(Struct, frozen=True, kw_only=True):
    """`result` is what expressions of the recipe read. `reason` is a word for programs, `problem` a sentence.
    `pause` are the seconds before a `later` attempt."""

    state: State
    result: dict[str, Any] = {}
    reason: str = ""
    problem: str = ""
    usd: float = 0.0
    tokens: int = 0
    pause: float = 0.0


def failed(reason: str, problem: str, result: Mapping[str, Any] | None = None) -> Outcome:
    return Outcome(state="failure", reason=reason, problem=problem[:_SHOWN], result=dict(result or {}))


def judged(answer: Mapping[str, Any], *, is_error: bool = False) -> Outcome:
    """The meaning of a tool's answer. A call that failed is a failure whatever its fields say; a result that
    says no inside of a call that worked is for `on_result`."""
    reason = str(answer.get("retry_reason") or answer.get("subtype") or "")
    problem = str(answer.get("error") or answer.get("problem") or answer.get("failed_step") or "")[:_SHOWN]
    spent = answer.get("token_usage")
    spent = spent if isinstance(spent, Mapping) else {}
    state = _state(answer, reason, is_error)
    return Outcome(
        state=state,
        result=_result(answer),
        reason="" if reason in ("none", "success") else reason,
        problem=problem,
        usd=_number(spent.get("cost_usd")),
        tokens=int(sum(_number(spent.get(name)) for name in ("input", "output", "cache_creation"))),
        pause=(_number(answer.get("wait_seconds")) or _PAUSE) if state == "later" else 0.0,
    )


def as_recorded(outcome: Outcome) -> Outcome:
    """The outcome as a journal gives it back: the first reading and every later one see the same values.
    Half a character, which some programs print, becomes a question mark; not-a-number becomes nothing."""
    try:
        data = msgspec.json.encode(outcome, enc_hook=str)
    except UnicodeEncodeError:
        data = msgspec.json.encode(_whole(msgspec.to_builtins(outcome, enc_hook=str)))
    return msgspec.json.decode(data, type=Outcome)


def _whole(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-8", "replace").decode()
        case Mapping():
            return {_whole(name): _whole(item) for name, item in value.items()}
        case list() | tuple():
            return [_whole(item) for item in value]
    return value


def _state(answer: Mapping[str, Any], reason: str, is_error: bool) -> State:
    if reason in _LATER:
        return "later"
    if answer.get("needs_retry") is True:
        if reason in _CONTEXT:
            return "context_limit"
        return "again" if reason in _AGAIN else "failure"
    says_no = answer.get("success") is False or answer.get("passed") is False or "failed_step" in answer
    without_success = "success" not in answer and "passed" not in answer and bool(answer.get("error"))
    return "failure" if is_error or says_no or without_success else "success"


def _result(answer: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of the answer, and beside them the typed outputs that a skill has submitted."""
    outputs = answer.get("outputs")
    inner = answer.get("result")
    more: dict[str, Any] = {}
    if isinstance(inner, Mapping):
        more |= inner
    if isinstance(outputs, Mapping):
        more |= outputs
    return {**more, **answer, **(outputs if isinstance(outputs, Mapping) else {})}


def _number(value: Any) -> float:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number and abs(value) < _LARGEST else 0.0
