"""The text for a refused call."""

from __future__ import annotations

from checkrein.runtime.call.final_verdict import Judgement

_ENDS = (".", "!", "?")


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
