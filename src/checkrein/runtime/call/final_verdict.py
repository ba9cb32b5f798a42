"""The final verdict on a call, and who gave it."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from checkrein.policy.values import Decision

By = Literal["rule", "mode", "classifier", "hook", "asker", "trust"]


class Judgement(Struct, frozen=True, kw_only=True):
    """`input` is what may run; `paths` are the canonical paths that it may open, `hosts` the hosts that it
    may reach at any address."""

    allowed: bool
    input: dict[str, Any]
    decision: Decision
    by: By = "rule"
    reason: str = ""
    paths: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    interrupt: bool = False


def denier(decision: Decision) -> By:
    if decision.rule is not None:
        return "rule"
    return "hook" if any(piece.effect == "hook" for piece in decision.trace) else "mode"


def refused(
    input: dict[str, Any], decision: Decision, by: By, reason: str = "", interrupt: bool = False
) -> Judgement:
    return Judgement(
        allowed=False,
        input=input,
        decision=decision,
        by=by,
        reason=reason or decision.reason,
        interrupt=interrupt,
    )


def unasked(decision: Decision) -> str:
    return f"{decision.reason}, and there is nobody to ask"
