"""Ways around file, host and server rules that were tried in a scratch project: none is allowed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checkrein.policy.lines import answer

PLACES = {"@PROJ@": "/base/proj", "@HOME@": "/home/me", "@BASE@": "/base", "@BIN@": "/base/bin"}


def _rows() -> list[dict[str, Any]]:
    text = (Path(__file__).parent / "data" / "own-attacks-files.jsonl").read_text(encoding="utf-8")
    for mark, place in PLACES.items():
        text = text.replace(mark, place)
    return [json.loads(line) for line in text.splitlines()]


ROWS = _rows()
KINDS = sorted({row["id"].rsplit("-", 1)[0] for row in ROWS})


def test_the_table_is_all_there() -> None:
    assert len(ROWS) > 800
    assert len({row["id"] for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("kind", KINDS)
def test_no_way_is_allowed(kind: str) -> None:
    wrong = []
    for row in ROWS:
        if row["id"].rsplit("-", 1)[0] == kind:
            record = {key: value for key, value in row.items() if key != "leak_class"}
            found = answer({**record, "cwd": "/base/proj", "root": "/base/proj", "home": "/home/me"})
            if not found.matched:
                wrong.append((row["id"], row["input"], found.line.verdict, found.line.reason))
    assert wrong == []
