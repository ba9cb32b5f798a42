"""What the answer of a tool means for its step."""

from __future__ import annotations

from typing import Any

import pytest

from checkrein.recipes.outcome import judged
from checkrein.recipes.step_routes import as_list


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ({"success": True}, "success"),
        ({"success": False}, "failure"),
        ({"passed": False, "stdout": "1 failed"}, "failure"),
        ({"passed": True}, "success"),
        ({"failed_step": "rebase"}, "failure"),
        ({"error": "no such branch"}, "failure"),
        ({"success": True, "error": ""}, "success"),
        ({"content": "text"}, "success"),
        ({"success": False, "needs_retry": True, "retry_reason": "resume"}, "context_limit"),
        ({"success": False, "needs_retry": True, "retry_reason": "drain_race"}, "context_limit"),
        ({"success": False, "needs_retry": True, "retry_reason": "stale"}, "again"),
        ({"success": False, "needs_retry": True, "retry_reason": "early_stop"}, "failure"),
        ({"success": False, "needs_retry": True, "retry_reason": "zero_writes"}, "failure"),
        ({"success": False, "needs_retry": True, "retry_reason": "path_contamination"}, "failure"),
        ({"success": False, "needs_retry": False, "retry_reason": "contract_recovery"}, "failure"),
        ({"success": False, "needs_retry": False, "retry_reason": "budget_exhausted"}, "failure"),
        ({"success": False, "needs_retry": True, "subtype": "quota_reached", "wait_seconds": 9}, "later"),
    ],
)
def test_states(answer: dict[str, Any], state: str) -> None:
    assert judged(answer).state == state


def test_an_error_of_the_call_is_a_failure_whatever_the_fields_say() -> None:
    assert judged({"success": True}, is_error=True).state == "failure"


def test_typed_outputs_are_fields_of_the_result_and_money_is_counted() -> None:
    answer = {
        "success": True,
        "result": "text",
        "outputs": {"verdict": "GO"},
        "token_usage": {"input": 5, "output": 7, "cache_creation": 1, "cost_usd": 0.5},
    }
    found = judged(answer)
    assert (found.result["verdict"], found.result["result"]) == ("GO", "text")
    assert (found.usd, found.tokens) == (0.5, 13)
    assert judged({"success": True, "result": {"n": 3}}).result["n"] == 3


def test_a_pause_belongs_to_a_quota() -> None:
    quota = judged({"success": False, "needs_retry": True, "subtype": "quota_reached", "wait_seconds": 9})
    assert quota.pause == 9
    assert judged({"success": True}).pause == 0


@pytest.mark.parametrize(
    ("value", "items"),
    [
        (["a", 1], ["a", 1]),
        ("a, b,", ["a", "b"]),
        ("a\nb, c\n", ["a", "b, c"]),
        ('["x", {"y": 1}]', ["x", {"y": 1}]),
        ("[broken", ["[broken"]),
        ("", []),
        (None, []),
        (7, [7]),
        ({"k": 1}, [{"key": "k", "value": 1}]),
    ],
)
def test_items(value: Any, items: list[Any]) -> None:
    assert as_list(value) == items
