"""Rows of the tables of attacks and of plain commands, and how they are judged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from checkrein.policy.lines import answer

DATA = Path(__file__).parent.parent / "conformance" / "data"
PLACES = {"@PROJ@": "/base/proj", "@HOME@": "/home/me", "@BASE@": "/base", "@BIN@": "/base/bin"}


def rows(name: str) -> Iterator[dict[str, Any]]:
    for line in (DATA / name).read_text().splitlines():
        for mark, place in PLACES.items():
            line = line.replace(mark, place)
        row = json.loads(line)
        if "_meta" not in row:
            yield row


def judged(row: dict[str, Any]) -> str:
    record = {name: row[name] for name in ("permissions", "mode", "tool", "input", "want")}
    return answer({**record, "cwd": "/base/proj", "root": "/base/proj", "home": "/home/me"}).line.verdict
