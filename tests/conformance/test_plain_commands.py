"""Ordinary commands of coding agents: few of them need approval, and none is denied."""

from __future__ import annotations

from support.attacks import judged, rows

ROWS = [row for row in rows("plain-commands.jsonl") if row["want"] == ["allow"]]
SHARE = 0.03
"""Without any other layer."""


def test_few_plain_commands_need_approval() -> None:
    asked = [(row["permissions"], row["input"]["command"]) for row in ROWS if judged(row) == "ask"]
    assert len(asked) <= SHARE * len(ROWS), asked


def test_no_plain_command_is_denied() -> None:
    assert [row["input"]["command"] for row in ROWS if judged(row) == "deny"] == []
