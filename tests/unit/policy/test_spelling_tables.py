"""Tables of spellings by class: denied commands, reads and writes are never allowed, ordinary work is.

A table holds one shell text per line; `⏎` stands for a line end, and `## ` starts a class.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from checkrein.policy.lines import answer

DATA = Path(__file__).parent / "data"
POLICIES: dict[str, dict[str, list[str]]] = {
    "denied_commands": {"allow": ["Bash"], "deny": ["Bash(rm *)"]},
    "denied_reads": {"allow": ["Bash"], "deny": ["Read(./.env)"]},
    "denied_writes": {"allow": ["Bash"], "deny": ["Edit(src/**)"]},
}
ORDINARY: dict[str, list[str]] = {
    "allow": ["Bash"],
    "deny": ["Bash(rm *)", "Bash(sudo rm *)", "Read(./.env)", "Read(~/.ssh/**)", "Edit(vendor/**)"],
    "ask": ["Bash(git push --force *)"],
}
SCOPED: dict[str, list[str]] = {
    "allow": [
        f"Bash({name} *)"
        for name in (
            *("npm", "npx", "yarn", "pnpm", "pytest", "python", "uv", "cargo", "go", "make", "docker"),
            *("kubectl", "git", "gh", "bundle", "mix", "dotnet"),
        )
    ],
    "deny": ["Bash(rm *)", "Bash(curl *)", "Read(./.env)"],
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
    count = {table: sum(map(len, classes(table).values())) for table in (*POLICIES, "ordinary")}
    assert count["denied_commands"] > 1_500
    assert count["denied_reads"] > 400
    assert count["denied_writes"] > 200
    assert count["ordinary"] > 400


@pytest.mark.parametrize("name", classes("ordinary"))
def test_ordinary_work_is_allowed(name: str) -> None:
    stopped = []
    for text in classes("ordinary")[name]:
        record = {"permissions": ORDINARY, "tool": "Bash", "input": {"command": text}}
        line = answer(record, cwd="/p", home="/h").line
        if line.verdict != "allow":
            stopped.append((text, line.reason))
    assert stopped == []


def test_scoped_rules_go_on_to_allow_plain_commands() -> None:
    names = {rule.removeprefix("Bash(").split(" ")[0] for rule in SCOPED["allow"]}
    rows = [text for found in classes("ordinary").values() for text in found]
    plain = [text for text in rows if text.split(" ")[0] in names and not set(text) & set("|&;<>$(){}\n")]
    stopped = [
        text
        for text in plain
        if answer(
            {"permissions": SCOPED, "tool": "Bash", "input": {"command": text}}, cwd="/p", home="/h"
        ).line.verdict
        != "allow"
    ]
    assert len(plain) > 100
    assert stopped == []


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
