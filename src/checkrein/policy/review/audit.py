"""What calls of the past would get under the rules of today, and which rules would spare questions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from checkrein.base.origin import Origin
from checkrein.model.rule import Rule, parse_rule
from checkrein.policy.policy import grant
from checkrein.policy.review.past import Fate, Judge, PastCall, shown, shown_reason
from checkrein.policy.review.rule_set import Asked, choices, smallest
from checkrein.policy.situation import Situation
from checkrein.policy.values import Decision, Verdict

PROPOSED = "<proposed>"
"""The file of rules that nobody has written yet."""
_EXAMPLES = 3


class Row(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A call, how often it was made with one fate, and the verdict of today. `origin` is the rule's file and
    line; `file` and `line` are where the call first is."""

    call: str
    times: int
    fate: Fate
    verdict: Verdict
    reason: str
    rule: str | None = None
    origin: str | None = None
    file: str = ""
    line: int = 0


class Suggestion(Struct, frozen=True, kw_only=True):
    """An allow rule, how many questions of the past need it to be spared, and some of their calls."""

    rule: str
    spares: int
    calls: int
    examples: tuple[str, ...]


class Trial(Struct, frozen=True, kw_only=True):
    """What a rule that the reader named would do: the questions it spares, the refused calls it allows."""

    rule: str
    spares: int
    calls: tuple[str, ...]
    refused: tuple[str, ...]


class Audit(Struct, frozen=True, kw_only=True):
    """`counts` are calls by fate and verdict. `questions` are calls that ran and would need approval;
    `spared` of them would not with the suggested rules. `loosened` are calls that a person refused and that
    would run today; `tightened` ran and would be denied."""

    calls: int
    counts: dict[str, dict[str, int]]
    questions: int
    rows: tuple[Row, ...]
    loosened: tuple[Row, ...]
    tightened: tuple[Row, ...]
    spared: int = 0
    suggestions: tuple[Suggestion, ...] = ()
    trials: tuple[Trial, ...] = ()


class Wanted(Struct, frozen=True, kw_only=True):
    """`suggest` rules for calls that were made at least `at_least` times; try `rules`."""

    suggest: bool = False
    at_least: int = 2
    rules: tuple[str, ...] = ()


class Bench:
    """Judges calls in one situation, each in its own directory, with more allow rules where these are
    named."""

    def __init__(self, situation: Situation, links: Callable[[], Mapping[str, str]]) -> None:
        self._situation = situation
        self._links = links

    def under(self, rules: tuple[str, ...]) -> Judge:
        situation = self._situation
        if rules:
            situation = replace(situation, policy=grant(situation.policy, self._parsed(rules)))
        links = self._links()
        return lambda past: situation.decide(past.call, situation.context(past.cwd or None, links))

    def choices(self, past: PastCall, decision: Decision) -> tuple[tuple[str, ...], ...]:
        situation = self._situation
        context = situation.context(past.cwd or None, self._links())
        return choices(past, situation.policy.tools.get(past.call.tool), context, decision)

    def _parsed(self, rules: tuple[str, ...]) -> list[Rule]:
        origin = Origin(PROPOSED, "cli")
        return [parse_rule(text, "allow", origin, anchor=self._situation.root) for text in rules]

    def row(self, past: PastCall, decision: Decision) -> Row:
        origin = decision.origin
        return Row(
            call=self.shown(past),
            times=past.times,
            fate=past.fate,
            verdict=decision.verdict,
            reason=shown_reason(decision.reason),
            rule=decision.rule,
            origin=None if origin is None else origin.beside(self._situation.root),
            file=past.file,
            line=past.line,
        )

    def shown(self, past: PastCall) -> str:
        return shown(past.call, self._situation.policy.tools)


def audited(bench: Bench, past: Sequence[PastCall], wanted: Wanted) -> Audit:
    judge = bench.under(())
    judged = [(one, judge(one)) for one in past]
    counts: dict[str, dict[str, int]] = {}
    for one, decision in judged:
        by = counts.setdefault(one.fate, {"allow": 0, "ask": 0, "deny": 0})
        by[decision.verdict] += one.times
    rows = [bench.row(one, decision) for one, decision in judged]
    rows.sort(key=lambda row: (-row.times, row.call, row.fate))
    asked = [(one, decision) for one, decision in judged if (one.fate, decision.verdict) == ("ran", "ask")]
    refused = [one for one, decision in judged if one.fate == "refused" and decision.verdict != "allow"]
    found = Audit(
        calls=sum(one.times for one in past),
        counts=counts,
        questions=sum(one.times for one, _ in asked),
        rows=tuple(rows),
        loosened=tuple(row for row in rows if (row.fate, row.verdict) == ("refused", "allow")),
        tightened=tuple(row for row in rows if (row.fate, row.verdict) == ("ran", "deny")),
        trials=tuple(_trial(bench, rule, [one for one, _ in asked], refused) for rule in wanted.rules),
    )
    return _suggested(found, bench, asked, refused, wanted.at_least) if wanted.suggest else found


def _suggested(
    found: Audit,
    bench: Bench,
    asked: Sequence[tuple[PastCall, Decision]],
    refused: Sequence[PastCall],
    at_least: int,
) -> Audit:
    worth = [Asked(one, bench.choices(one, decision)) for one, decision in asked]
    proposals = smallest(worth, refused, bench.under, at_least)
    judge = bench.under(tuple(one.rule for one in proposals))
    return replace(
        found,
        spared=sum(one.times for one, _ in asked if judge(one).verdict == "allow"),
        suggestions=tuple(
            Suggestion(
                rule=one.rule,
                spares=one.spares,
                calls=len(one.calls),
                examples=tuple(bench.shown(past) for past in one.calls[:_EXAMPLES]),
            )
            for one in proposals
        ),
    )


def _trial(bench: Bench, rule: str, asked: Sequence[PastCall], refused: Sequence[PastCall]) -> Trial:
    judge = bench.under((rule,))
    spared = [one for one in asked if judge(one).verdict == "allow"]
    return Trial(
        rule=rule,
        spares=sum(one.times for one in spared),
        calls=tuple(bench.shown(one) for one in spared),
        refused=tuple(bench.shown(one) for one in refused if judge(one).verdict == "allow"),
    )
