"""Ways to do what a rule denies: no row is judged allow that must not be.

Without any other layer that holds for every row. Where the layers hold, they decide later about what a rule
denies; a row that no rule allows is still not allowed before.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from support.attacks import LAYERS, judged, rows

CHUNK = 250
UNALLOWED = ("default-", "acceptEdits-")


def chunks() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    for table in ("attacks.jsonl", "own-attacks.jsonl"):
        kinds: dict[str, list[dict[str, Any]]] = {}
        for row in rows(table):
            kinds.setdefault(row["id"].split("-")[0], []).append(row)
        for kind, found in kinds.items():
            for at in range(0, len(found), CHUNK):
                yield f"{table.removesuffix('.jsonl')} {kind} {at // CHUNK}", found[at : at + CHUNK]


CHUNKS = dict(chunks())


@pytest.mark.untraced
@pytest.mark.parametrize("chunk", CHUNKS)
def test_no_row_is_judged_as_it_must_not_be(chunk: str) -> None:
    found = {row["id"]: (judged(row), row["want"]) for row in CHUNKS[chunk]}
    assert {name: verdict for name, (verdict, want) in found.items() if verdict not in want} == {}


def test_layers_allow_no_row_that_no_rule_allows() -> None:
    found = [row for row in rows("attacks.jsonl") if row["id"].startswith(UNALLOWED)]
    assert len(found) == 25
    assert [row["id"] for row in found if judged(row, LAYERS) == "allow"] == []


def test_a_denied_script_is_read_by_no_shell_under_any_layer() -> None:
    """No start tells of a script that a running shell reads, so it is judged before."""
    found = [
        row for row in rows("own-attacks.jsonl") if "Bash(./deploy.sh)" in row["permissions"].get("deny", ())
    ]
    assert len(found) >= 12
    assert [row["input"] for row in found if judged(row, LAYERS) == "allow"] == []
