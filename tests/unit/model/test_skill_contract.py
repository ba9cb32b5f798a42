"""Patterns of a contract: they come with a skill and may be anything."""

from __future__ import annotations

import time

from checkrein.model.skill_contract import Contract, is_found


def test_a_pattern_that_looks_for_too_long_is_not_found() -> None:
    began = time.monotonic()
    assert not is_found(r"(a|aa)+$", "a" * 60 + "b")
    assert time.monotonic() - began < 10


def test_no_regular_expression_is_never_found() -> None:
    assert not is_found("(", "(")


def test_lines_and_decorations() -> None:
    contract = Contract(expected_output_patterns=(r"(?m)^plan_path = /\S+",))
    assert contract.is_met("Done.\n**plan_path** = /tmp/plan.md\n")
    assert not contract.is_met("plan_path is /tmp/plan.md")
