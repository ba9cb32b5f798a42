"""The final verdict on a call, who gave it, and the text for a refused one."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from checkrein.policy.values import Decision

By = Literal["rule", "mode", "classifier", "hook", "asker", "trust"]
_ENDS = (".", "!", "?")


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


def decider(decision: Decision) -> By:
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


def refusal(judgement: Judgement, cwd: str) -> str:
    """What the model learns of a refusal: the reason, the rule and its place. A hook's text stays as it
    is."""
    decision = judgement.decision
    said = [piece.reason for piece in decision.trace if piece.effect == "hook" and piece.reason]
    if said and decision.rule is None and judgement.by in ("hook", "mode"):
        return said[0]
    reason = judgement.reason.rstrip()
    text = f"Refused: {reason}" if reason.endswith(_ENDS) else f"Refused: {reason}."
    if decision.rule is not None and decision.origin is not None:
        text += f" Rule: {decision.rule} ({decision.origin.beside(cwd)})."
    return text
