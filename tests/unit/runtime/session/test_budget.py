from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkrein.llm.port import Usage
from checkrein.runtime.session.budget import Budget, Meter

usages = st.builds(Usage, st.integers(0, 1000), st.integers(0, 1000), st.integers(0, 1000))


@settings(max_examples=100, derandomize=True)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from("ab"), usages, st.integers(0, 100)), max_size=30)
)
def test_the_tree_is_the_sum_of_its_parts(spent: list[tuple[int, str, Usage, int]]) -> None:
    root = Meter(Budget())
    meters = [root, Meter(Budget(), root)]
    meters += [Meter(Budget(), meters[1]), Meter(Budget(), root)]
    total, money = Usage(), 0
    for index, model, usage, cents in spent:
        meters[index].add(model, usage, cents)
        total, money = total + usage, money + cents
    assert root.usage == total
    assert root.cost == money
    below = [Meter(Budget()) for _ in meters]
    for index, model, usage, cents in spent:
        below[index].add(model, usage, cents)
    assert sum(meter.cost for meter in below) == root.cost


@pytest.mark.parametrize(
    ("budget", "limit"),
    [
        (Budget(requests=2), "requests"),
        (Budget(tokens=10), "tokens"),
        (Budget(usd=0.5), "usd"),
        (Budget(seconds=0.0), "seconds"),
        (Budget(requests=3, tokens=11, usd=0.6, seconds=60.0), None),
    ],
)
def test_limits(budget: Budget, limit: str | None) -> None:
    meter = Meter(budget)
    meter.requests = 2
    meter.add("m", Usage(5, 5), 0.5)
    time.sleep(0.001)
    assert meter.spent() == limit


def test_a_parents_limit_binds_its_children_but_not_its_turns() -> None:
    parent = Meter(Budget(requests=1, tokens=10))
    parent.requests = 1
    child = Meter(Budget(), parent)
    assert child.spent() is None
    child.add("m", Usage(10), None)
    assert child.spent() == "tokens"


def test_unknown_prices_stay_unknown() -> None:
    meter = Meter(Budget())
    meter.add("m", Usage(1), None)
    assert meter.by_model["m"].cost_usd is None
    meter.add("m", Usage(1), 0.25)
    assert meter.by_model["m"].cost_usd == 0.25
    assert meter.by_model["m"].requests == 2
