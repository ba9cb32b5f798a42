"""`decide`: the one question the rest of Checkrein asks of a policy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from checkrein.policy.abstract import SENTINELS
from checkrein.policy.judge import judge
from checkrein.policy.policy import Compiled, Policy
from checkrein.policy.servers import tool_rule
from checkrein.policy.tools import Meaning
from checkrein.policy.values import Call, Context, Decision, HookVerdict, Piece, Verdict, rank
from checkrein.policy.view import View


def decide(policy: Policy, call: Call, context: Context, *, hooks: Sequence[HookVerdict] = ()) -> Decision:
    """Judge a call under every layer of the policy; the strictest verdict holds.

    Pure and total: the same values give the same decision. It looks nothing up outside of them and raises
    nothing, whatever the input holds. For a call it can't understand, the verdict is `ask` or `deny`.
    """
    tool = policy.tools.get(call.tool)
    if tool.remote is not None:
        context = replace(context, layers=())  # a server does the work, and they do not hold there
    decisions = [_under(compiled, call, tool, context, hooks) for compiled in policy.compiled]
    if not decisions:
        return Decision(verdict="ask", reason="the policy is empty")
    worst = max(decisions, key=lambda one: rank(one.verdict))
    asking = [one for one in decisions if one.verdict == "ask"]
    return Decision(
        verdict=worst.verdict,
        reason=worst.reason,
        offered=all(one.offered for one in decisions),
        rule=worst.rule,
        origin=worst.origin,
        trace=_merged(decisions),
        classify=worst.verdict == "ask" and all(one.classify for one in asking),
        notes=tuple(_later(decisions)) if worst.verdict == "allow" else (),
        only_reads=worst.verdict == "allow" and any(one.only_reads for one in decisions),
    )


def _later(decisions: Sequence[Decision]) -> Iterator[str]:
    """What a layer decides after the call is allowed."""
    for one in _merged(decisions):
        if one.later:
            yield f"`{one.text}`: allowed; {one.later}."


def _under(
    compiled: Compiled, call: Call, tool: Meaning, context: Context, hooks: Sequence[HookVerdict]
) -> Decision:
    view = View(compiled, context)
    offered = tool_rule(view.deny, tool) is None
    try:
        pieces = judge(view, _readable(call), tool, hooks)
    except RecursionError:
        pieces = [Piece(call.tool, "ask", "the call is nested too deeply to be understood")]
    reads = all(one.reads for one in pieces)
    if not reads:
        pieces = [_unheld(one) for one in pieces]
    only_reads = reads and (any(one.layer for one in pieces) or not any(one.rule for one in pieces))
    worst = max(pieces, key=lambda one: rank(one.verdict))
    verdict: Verdict = worst.verdict
    reason = worst.reason
    if verdict == "ask" and view.mode == "dontAsk":
        verdict, reason = "deny", f"{reason}, and the mode is dontAsk"
    return Decision(
        verdict=verdict,
        reason=reason,
        offered=offered,
        rule=worst.rule,
        origin=worst.origin,
        trace=tuple(pieces),
        classify=view.mode == "auto" and verdict == "ask" and _is_open(pieces, tool),
        only_reads=only_reads and verdict == "allow",
    )


def _unheld(one: Piece) -> Piece:
    """A part that had to be held to reading, beside one that may do more: nothing can hold only one."""
    if not (one.reads and one.layer):
        return one
    reason = "it only reads if nothing else is left to it, and the rest of the call may do more"
    return replace(one, verdict="ask", reason=reason, layer=None, later="")


def _is_open(pieces: Sequence[Piece], tool: Meaning) -> bool:
    """Whether no rule, hook or interactive tool demands the question, so that a classifier may answer it."""
    return not tool.interactive and not any(
        one.verdict == "ask" and (one.rule is not None or one.effect == "hook") for one in pieces
    )


def _readable(call: Call) -> Call:
    """The call without the private-use characters that mark partly known text."""
    if not any(isinstance(value, str) and SENTINELS.search(value) for value in call.input.values()):
        return call
    cleaned = {
        key: SENTINELS.sub("�", value) if isinstance(value, str) else value
        for key, value in call.input.items()
    }
    return Call(call.tool, cleaned)


def _merged(decisions: Sequence[Decision]) -> tuple[Piece, ...]:
    return tuple(dict.fromkeys(piece for one in decisions for piece in one.trace))
