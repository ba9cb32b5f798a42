"""What became allowed, asked or denied between two revisions of a project's rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec
from msgspec import Struct

from checkrein.base.harmless import one_line
from checkrein.base.secrets import redact_command
from checkrein.model.items import Hook
from checkrein.policy.review.past import PastCall, moved, shown, shown_reason
from checkrein.policy.review.witnesses import witnesses
from checkrein.policy.situation import Situation
from checkrein.policy.values import Decision, Verdict, rank

Source = Literal["built in", "rules", "transcripts", "file"]
Kind = Literal["allowed", "asked", "denied"]
_KINDS: dict[Verdict, Kind] = {"allow": "allowed", "ask": "asked", "deny": "denied"}


class Side(Struct, frozen=True, omit_defaults=True):
    """The verdict at one end, and the rule with its file and line, if a rule decided."""

    verdict: Verdict
    reason: str
    rule: str | None = None
    origin: str | None = None


class Change(Struct, frozen=True, kw_only=True):
    """A call whose verdict differs. `source` says where the call comes from."""

    call: str
    became: Kind
    looser: bool
    before: Side
    after: Side
    source: Source


class HookChange(Struct, frozen=True, kw_only=True):
    """A PreToolUse hook that judges calls at one end alone. A lost one leaves calls unjudged."""

    hook: str
    origin: str
    lost: bool


class Comparison(Struct, frozen=True, kw_only=True):
    calls: int
    changes: tuple[Change, ...]
    hooks: tuple[HookChange, ...] = ()

    @property
    def looser(self) -> bool:
        return any(one.looser for one in self.changes) or any(one.lost for one in self.hooks)

    @property
    def differs(self) -> bool:
        return bool(self.changes or self.hooks)


class Sample(Struct, frozen=True):
    """A call to compare; its paths are those of a project in `root`."""

    past: PastCall
    root: str
    source: Source


def of_rules(situation: Situation) -> Iterator[Sample]:
    """Calls that the rules of one end are about; Checkrein's own count where they are about the project."""
    tools, root, home = situation.policy.tools, situation.root, situation.home
    for layer in situation.policy.layers:
        for rule in layer.rules:
            if rule.origin.scope == "bundled" and root not in rule.text:
                continue
            for call in witnesses(rule, root, home, tools):
                yield Sample(PastCall(call=call), root, "rules")


def compared(before: Situation, after: Situation, samples: Sequence[Sample]) -> Comparison:
    """Each call is judged at both ends, in the project's directory there."""
    seen: dict[bytes, None] = {}
    changes: list[Change] = []
    for sample in (*samples, *of_rules(before), *of_rules(after)):
        old = moved(sample.past, sample.root, before.root)
        new = moved(sample.past, sample.root, after.root)
        key = msgspec.json.encode((old.call.tool, old.call.input, old.cwd))
        if key in seen:
            continue
        seen[key] = None
        first, last = _judged(before, old), _judged(after, new)
        if first.verdict != last.verdict:
            changes.append(
                Change(
                    call=shown(sample.past.call, after.policy.tools).replace(f"{sample.root}/", ""),
                    became=_KINDS[last.verdict],
                    looser=rank(last.verdict) < rank(first.verdict),
                    before=_side(first, before.root),
                    after=_side(last, after.root),
                    source=sample.source,
                )
            )
    changes.sort(key=lambda one: (not one.looser, one.became, one.call))
    return Comparison(calls=len(seen), changes=tuple(changes), hooks=tuple(_hooks(before, after)))


def _judged(situation: Situation, past: PastCall) -> Decision:
    return situation.decide(past.call, situation.context(past.cwd or None))


def _side(decision: Decision, root: str) -> Side:
    origin = None if decision.origin is None else decision.origin.beside(root)
    reason = shown_reason(decision.reason).replace(f"{root}/", "")
    return Side(decision.verdict, reason, decision.rule, origin)


def _hooks(before: Situation, after: Situation) -> Iterator[HookChange]:
    old, new = _judges(before), _judges(after)
    for known, other, lost in ((old, new, True), (new, old, False)):
        for key, origin in known.items():
            if key not in other:
                yield HookChange(hook=key, origin=origin, lost=lost)


def _judges(situation: Situation) -> dict[str, str]:
    judges = (one for one in situation.hooks if one.event == "PreToolUse")
    return {_named(one): one.origin.beside(situation.root) for one in judges}


def _named(hook: Hook) -> str:
    what = hook.command or hook.url or hook.tool or hook.prompt or hook.type
    return one_line(f"{hook.matcher or '*'}: {redact_command(what)}")
