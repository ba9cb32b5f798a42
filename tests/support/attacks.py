"""Rows of the tables of attacks and of plain commands, and how they are judged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from checkrein.policy.lines import answer

DATA = Path(__file__).parent.parent / "conformance" / "data"
LAYERS = ("exec", "files", "network")
PLACES = {"@PROJ@": "/base/proj", "@HOME@": "/home/me", "@BASE@": "/base", "@BIN@": "/base/bin"}


def rows(name: str) -> Iterator[dict[str, Any]]:
    for line in (DATA / name).read_text().splitlines():
        for mark, place in PLACES.items():
            line = line.replace(mark, place)
        row = json.loads(line)
        if "_meta" not in row:
            yield row


def judged(row: dict[str, Any], layers: tuple[str, ...] = ()) -> str:
    """The verdict on a row. `layers` are those that enforce rules while the call runs."""
    record = {name: row[name] for name in ("permissions", "mode", "tool", "input", "want")}
    place = {"cwd": "/base/proj", "root": "/base/proj", "home": "/home/me"}
    return answer({**record, **place, "layers": list(layers)}).line.verdict
