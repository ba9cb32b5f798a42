"""What explains a verdict besides the rule that decided: trust, the mode, hooks, the classifier."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from checkrein.policy.decide import decide
from checkrein.policy.hooks import judges
from checkrein.policy.policy import with_mode
from checkrein.policy.situation import Situation
from checkrein.policy.values import Call, Context, Decision, rank

_WOULD = {"allow": "would be allowed", "ask": "would only need approval"}


def explain(situation: Situation, call: Call, context: Context) -> Decision:
    """The decision of a situation, with its notes."""
    found = situation.decide(call, context)
    notes = (
        *found.notes,
        *trust_notes(situation, call, context, found),
        *_mode(situation, call, context, found),
        *_hooks(situation, call, context, found),
    )
    return replace(found, notes=notes)


def trust_notes(situation: Situation, call: Call, context: Context, found: Decision) -> Iterator[str]:
    """What trust in the project would change."""
    if situation.trusting is None:
        return
    would = situation.trusting.decide(call, replace(context, trusted=True))
    if rank(would.verdict) >= rank(found.verdict):
        return
    cause = f"because {would.reason}"
    if would.rule is not None and would.origin is not None:
        cause = f"by {would.rule} ({would.origin.beside(situation.root)})"
    yield f"It {_WOULD[would.verdict]} {cause}, but this project is not trusted (`checkrein trust`)."
    if situation.trust is not None and situation.trust.changes:
        yield situation.trust.reason


def _mode(situation: Situation, call: Call, context: Context, found: Decision) -> Iterator[str]:
    chosen = situation.chosen
    place = f" ({chosen.origin.beside(situation.root)})" if chosen.origin is not None else ""
    if chosen.passed_over and found.verdict != "allow":
        yield f"The mode is default: {chosen.passed_over}{place}."
    if situation.mode == "default":
        return
    plain = decide(
        situation.bound(with_mode(situation.policy, "default")),
        call,
        context,
        hooks=situation.verdicts(call, context, "default"),
    )
    if plain.verdict != found.verdict:
        yield f"The mode is {situation.mode}{place}; in the mode default the verdict is {plain.verdict}."
    if found.classify:
        yield "In the mode auto a classifier answers before the user does."


def _hooks(situation: Situation, call: Call, context: Context, found: Decision) -> Iterator[str]:
    if found.verdict == "deny":
        return
    known = Call(situation.policy.tools.get(call.tool).name, call.input)
    for hook in judges(situation.hooks, known, context):
        yield f"The PreToolUse hook at {hook.origin.beside(situation.root)} judges the call before it runs."
