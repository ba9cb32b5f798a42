"""The smallest set of allow rules that spares the most questions, and allows nothing that a person refused.

The candidates are those that a question itself would offer, and directories for edits. They are nested or
apart, so a set from which no rule can go without a new question has the fewest rules. Where two safe rules
together would allow a refused call, the one that spares more questions stays.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from checkrein.base.secrets import redact_command
from checkrein.policy.abstract import is_static
from checkrein.policy.effects import Write
from checkrein.policy.paths import absolute
from checkrein.policy.review.past import Judge, PastCall
from checkrein.policy.suggestions import literal_path, rule_choices
from checkrein.policy.tools import Meaning
from checkrein.policy.values import Context, Decision

_MOST = 100
"""How many rules are considered; nobody reads more."""

Under = Callable[[tuple[str, ...]], Judge]
"""The judge with these allow rules added."""


class Asked(Struct, frozen=True):
    """A call that needs approval, and the sets of rules that may spare the question, the broader first."""

    past: PastCall
    choices: tuple[tuple[str, ...], ...]


class Proposal(Struct, frozen=True):
    """A rule, how many questions need it to be spared, and the calls that they were about."""

    rule: str
    spares: int
    calls: tuple[PastCall, ...]


def choices(
    past: PastCall, tool: Meaning, context: Context, decision: Decision
) -> tuple[tuple[str, ...], ...]:
    """The sets of rules that may allow a call. None holds a secret."""
    found = (*rule_choices(past.call, tool, context, decision), *_edits(past, tool, context, decision))
    return tuple(rules for rules in found if all(redact_command(rule) == rule for rule in rules))


def _edits(past: PastCall, tool: Meaning, context: Context, decision: Decision) -> Iterator[tuple[str, ...]]:
    """The first directory below the project for an edited file, the file's own directory, the file."""
    written = [one.path for one in tool.effects(past.call.input) if isinstance(one, Write)]
    if decision.verdict != "ask" or tool.family != "Edit" or len(written) != 1:
        return
    path = absolute(written[0], context.cwd, context.home)
    below = os.path.relpath(path, context.start) if is_static(path) and path.startswith("/") else ".."
    if below.startswith("..") or "\0" in below:
        return
    folders = below.split("/")[:-1]
    for depth in dict.fromkeys((1, len(folders))) if folders else ():
        yield (f"Edit(/{literal_path('/'.join(folders[:depth]))}/**)",)
    yield (f"Edit(/{literal_path(below)})",)


def smallest(
    asked: Sequence[Asked], refused: Sequence[PastCall], under: Under, at_least: int = 1
) -> tuple[Proposal, ...]:
    """`refused` are the calls that a person refused and that the rules of today do not allow. Each rule
    spares `at_least` so many questions."""
    held, spared = _accepted(_promising(asked, at_least), refused, under)
    kept = _needed(held, spared, under)
    while True:
        judge = under(kept)
        found = _proposals(kept, [past for past in spared if judge(past).verdict == "allow"], judge)
        worth = tuple(one.rule for one in found if one.spares >= at_least)
        if len(worth) == len(kept):
            return found
        kept = worth


def _promising(asked: Sequence[Asked], at_least: int) -> list[Asked]:
    """Without the choices that hold a rule for fewer questions than wanted, or one beyond the most useful;
    the most frequent calls first."""
    most: dict[str, int] = {}
    for one in asked:
        for rule in {rule for rules in one.choices for rule in rules}:
            most[rule] = most.get(rule, 0) + one.past.times
    useful = set(sorted(most, key=lambda rule: -most[rule])[:_MOST])
    worth = {rule for rule in useful if most[rule] >= at_least}
    kept = (Asked(one.past, tuple(c for c in one.choices if worth.issuperset(c))) for one in asked)
    return sorted((one for one in kept if one.choices), key=lambda one: -one.past.times)


def _accepted(
    asked: Sequence[Asked], refused: Sequence[PastCall], under: Under
) -> tuple[tuple[str, ...], list[PastCall]]:
    """Rules that allow no refused call, and the calls that they spare. More rules never allow less: what is
    unsafe once stays so."""
    held: tuple[str, ...] = ()
    judge = under(held)
    spared: list[PastCall] = []
    unsafe: set[tuple[str, ...]] = set()
    for one in asked:
        if judge(one.past).verdict == "allow":
            spared.append(one.past)
            continue
        for rules in one.choices:
            grown = tuple(dict.fromkeys((*held, *rules)))
            if rules in unsafe or grown == held or under(rules)(one.past).verdict != "allow":
                continue
            trial = under(grown)
            if any(trial(no).verdict == "allow" for no in refused):
                unsafe.add(rules)
                continue
            held, judge = grown, trial
            spared.append(one.past)
            break
    return held, spared


def _needed(held: tuple[str, ...], spared: Sequence[PastCall], under: Under) -> tuple[str, ...]:
    """Without the rules that others make superfluous; the ones with the fewest calls go first."""
    users = _users(held, spared, under(held))
    left = held
    for rule in sorted(held, key=lambda rule: (sum(one.times for one in users[rule]), -len(rule))):
        rest = tuple(one for one in left if one != rule)
        trial = under(rest)
        if all(trial(past).verdict == "allow" for past in users[rule]):
            left = rest
            for other, calls in _users(rest, users.pop(rule), trial).items():
                users[other] += [past for past in calls if all(past is not one for one in users[other])]
    return left


def _used(decision: Decision, held: Sequence[str]) -> list[str]:
    named = {piece.rule for piece in decision.trace} | {decision.rule}
    return [rule for rule in held if rule in named]


def _users(rules: Sequence[str], spared: Sequence[PastCall], judge: Judge) -> dict[str, list[PastCall]]:
    """The calls that each rule takes part in allowing."""
    users: dict[str, list[PastCall]] = {rule: [] for rule in rules}
    for past in spared:
        for rule in _used(judge(past), rules):
            users[rule].append(past)
    return users


def _proposals(kept: tuple[str, ...], spared: Sequence[PastCall], judge: Judge) -> tuple[Proposal, ...]:
    users = _users(kept, spared, judge)
    found = [Proposal(rule, sum(one.times for one in calls), tuple(calls)) for rule, calls in users.items()]
    return tuple(sorted(found, key=lambda one: (-one.spares, one.rule)))
