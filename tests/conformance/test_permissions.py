"""Every observed and every documented permission case gets the verdict it must get."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checkrein.policy.lines import answer

DATA = Path(__file__).parent / "data"

STRICTER = {"P518": "ask"}
"""Observed rows that a documented row contradicts: the stricter verdict holds.

P518: while planning, the product was seen to run `touch z` under an allow rule; documented is that shell
writes go to the prompt (row 134).
"""


def observed() -> list[dict[str, Any]]:
    rows = []
    for line in (DATA / "permissions.jsonl").read_text().splitlines():
        row = json.loads(line.replace("@PROJ@", "/w/project"))
        permissions = {name: list(rules) for name, rules in row["permissions"].items()}
        added: list[str] = []
        flag = ""
        for word in row.get("args", ()):
            if word.startswith("--"):
                flag = word
            elif flag == "--add-dir":
                added.append(word)
            else:
                name = "allow" if flag == "--allowedTools" else "deny"
                permissions.setdefault(name, []).append(word)
        rows.append(
            {
                "id": row["id"],
                "permissions": permissions,
                "mode": row["mode"],
                "tool": row["tool"],
                "input": row["input"],
                "cwd": row.get("cwd", "/w/project"),
                "root": "/w/project",
                "home": "/w/home",
                "add_dirs": added,
                "want": STRICTER.get(row["id"], row["want"]),
            }
        )
    return rows


def documented() -> list[dict[str, Any]]:
    rows = []
    for line in (DATA / "permissions-docs.jsonl").read_text().splitlines()[1:]:
        row = json.loads(line)
        links = {}
        for name, value in row["input"].items():
            if isinstance(value, str) and " -> " in value:
                row["input"][name], target = value.split(" -> ")
                links[row["input"][name]] = target
        rows.append(
            {
                "id": f"D{row['id']}",
                "permissions": {name: row[name] for name in ("allow", "ask", "deny")},
                "mode": row["mode"],
                "tool": row["tool"],
                "input": row["input"],
                "cwd": "/p",
                "home": "/h",
                "links": links,
                "want": row["verdict"],
            }
        )
    return rows


ROWS = [*observed(), *documented()]


def test_all_rows_are_there() -> None:
    assert len(observed()) == 620
    assert len(documented()) == 248


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_verdict(row: dict[str, Any]) -> None:
    found = answer(row)
    assert found.matched, f"{found.line.verdict}: {found.line.reason}"
