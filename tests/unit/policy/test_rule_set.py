"""The smallest set of rules: it spares what it can, and never allows what a person refused."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkrein.policy.policy import compile_policy
from checkrein.policy.review.audit import Audit, Bench, Wanted, audited
from checkrein.policy.review.past import Fate, PastCall
from checkrein.policy.situation import Situation
from checkrein.policy.values import Call

BENCH = Bench(Situation(policy=compile_policy(()), root="/p", home="/h"), dict)


def ran(command: str, times: int = 1, fate: Fate = "ran") -> PastCall:
    return PastCall(call=Call("Bash", {"command": command}), fate=fate, times=times)


def refused(command: str) -> PastCall:
    return ran(command, fate="refused")


def edited(path: str, fate: Fate = "ran") -> PastCall:
    return PastCall(call=Call("Edit", {"file_path": path, "old_string": "", "new_string": ""}), fate=fate)


def rules(*past: PastCall, at_least: int = 1) -> list[str]:
    return [one.rule for one in suggested(past, at_least).suggestions]


def suggested(past: tuple[PastCall, ...], at_least: int = 1) -> Audit:
    return audited(BENCH, past, Wanted(suggest=True, at_least=at_least))


def test_one_rule_for_many_calls() -> None:
    assert rules(ran("git push origin a", 2), ran("git push origin b")) == ["Bash(git push *)"]


def test_a_call_of_two_commands_needs_two_rules() -> None:
    found = suggested((ran("cargo fmt && cargo clippy", 3),))
    assert [one.rule for one in found.suggestions] == ["Bash(cargo clippy *)", "Bash(cargo fmt *)"]
    assert (found.questions, found.spared) == (3, 3)


def test_a_refused_call_makes_the_rule_narrower() -> None:
    assert rules(ran("git push origin a"), refused("git push --force")) == ["Bash(git push origin a)"]


def test_the_same_call_refused_once_is_never_allowed() -> None:
    assert rules(ran("git push origin a", 9), refused("git push origin a")) == []


def test_two_safe_rules_that_together_allow_a_refused_call() -> None:
    past = (ran("make alpha", 5), ran("make beta", 2), refused("make alpha && make beta"))
    assert rules(*past) == ["Bash(make alpha *)"]


def test_edits_by_directory_unless_a_person_refused_one_there() -> None:
    assert rules(edited("/p/src/a.py"), edited("/p/src/b/c.py")) == ["Edit(/src/**)"]
    narrow = rules(edited("/p/src/a.py"), edited("/p/src/b/c.py"), edited("/p/src/x/key", "refused"))
    assert narrow == ["Edit(/src/a.py)", "Edit(/src/b/**)"]
    assert rules(edited("/elsewhere/a")) == []


def test_rare_calls_get_no_rule() -> None:
    assert rules(ran("make alpha"), ran("make beta", 2), at_least=2) == ["Bash(make beta *)"]
    assert rules(ran("cargo fmt && make alpha", 1), ran("cargo fmt", 5), at_least=2) == ["Bash(cargo fmt *)"]


@pytest.mark.parametrize(
    "command",
    [
        "mysql --password=hunter2hunter2 -e x",
        "deploy --token ghp_0123456789abcdefghijklmnopqrstuvwxyz",
        "curl -H 'Authorization: Bearer abcdefghijklmnop' https://x.y",
    ],
)
def test_no_rule_and_no_row_holds_a_secret(command: str) -> None:
    found = suggested((ran(command, 3),))
    told = repr(found)
    assert not any(word in told for word in ("hunter2", "ghp_0123", "abcdefghijklmnop"))


def test_a_refused_call_that_would_run_today() -> None:
    bench = Bench(Situation(policy=compile_policy(()), root="/p", home="/h"), dict)
    found = audited(bench, (refused("ls"), ran("cat a", fate="denied")), Wanted())
    assert [row.call for row in found.loosened] == ["Bash(ls)"]


def test_a_rule_on_trial() -> None:
    past = (ran("npm run a", 2), ran("npm run b"), refused("npm publish"))
    (trial,) = audited(BENCH, past, Wanted(rules=("Bash(npm *)",))).trials
    assert (trial.spares, trial.refused) == (3, ("Bash(npm publish)",))


PIECES = ("git push a", "git push b", "git pull a", "make one", "make two", "deploy it now")
COMMANDS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=2, unique=True).map(" && ".join)


@settings(max_examples=12)
@given(
    st.lists(st.tuples(COMMANDS, st.integers(1, 3)), max_size=4, unique_by=lambda one: one[0]),
    st.lists(COMMANDS, max_size=2, unique=True),
)
def test_safe_always_and_smallest_where_nothing_was_refused(
    done: list[tuple[str, int]], no: list[str]
) -> None:
    past = tuple(ran(command, times) for command, times in done)
    refusals = tuple(map(refused, no))
    found = rules(*past, *refusals)
    judge = BENCH.under(tuple(found))
    assert not any(judge(one).verdict == "allow" for one in refusals)
    spared = {index for index, one in enumerate(past) if judge(one).verdict == "allow"}
    for fewer in combinations(found, len(found) - 1) if found else ():
        other = BENCH.under(fewer)
        assert any(other(past[index]).verdict != "allow" for index in spared)
    if not no:
        assert len(spared) == len(past)
        every = {rule for one in past for rules in BENCH.choices(one, BENCH.under(())(one)) for rule in rules}
        for size in range(len(found)):
            for some in combinations(sorted(every), size):
                other = BENCH.under(some)
                assert not all(other(one).verdict == "allow" for one in past)
