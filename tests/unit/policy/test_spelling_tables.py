"""Tables of spellings by class: denied commands, reads and writes are never allowed, ordinary work is.

A table holds one shell text per line; `⏎` stands for a line end, and `## ` starts a class.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from bridle.policy.lines import answer

DATA = Path(__file__).parent / "data"
POLICIES: dict[str, dict[str, list[str]]] = {
    "denied_commands": {"allow": ["Bash"], "deny": ["Bash(rm *)"]},
}


def classes(table: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    rows: list[str] = []
    for line in (DATA / f"{table}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            rows = found.setdefault(line[3:], [])
        elif line:
            rows.append(line.replace("⏎", "\n"))
    return found


def verdict(table: str, text: str) -> str:
    record = {"permissions": POLICIES[table], "tool": "Bash", "input": {"command": text}}
    return answer(record, cwd="/p", home="/h").line.verdict


CASES = [(table, name) for table in POLICIES for name in classes(table)]


@pytest.mark.parametrize(("table", "name"), CASES, ids=[f"{table}: {name}" for table, name in CASES])
def test_no_spelling_is_allowed(table: str, name: str) -> None:
    allowed = [text for text in classes(table)[name] if verdict(table, text) == "allow"]
    assert allowed == []


def test_the_tables_are_long_enough_to_mean_something() -> None:
    assert sum(len(rows) for rows in classes("denied_commands").values()) > 1_500


@pytest.mark.parametrize("table", POLICIES)
def test_without_the_rule_most_of_it_would_run(table: str) -> None:
    """The rule is what stops these texts, not a general distrust of them."""
    rows = [text for found in classes(table).values() for text in found]
    record = {"permissions": {"allow": ["Bash"]}, "tool": "Bash"}
    runs = [
        text
        for text in rows
        if answer({**record, "input": {"command": text}}, cwd="/p", home="/h").line.verdict == "allow"
    ]
    assert len(runs) > len(rows) * 0.8
