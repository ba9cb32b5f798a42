"""Ways to do what a rule denies: without any other layer, no row is judged allow that must not be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from support.attacks import judged, rows

CHUNK = 250


def chunks() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    for table in ("attacks.jsonl", "own-attacks.jsonl"):
        kinds: dict[str, list[dict[str, Any]]] = {}
        for row in rows(table):
            kinds.setdefault(row["id"].split("-")[0], []).append(row)
        for kind, found in kinds.items():
            for at in range(0, len(found), CHUNK):
                yield f"{table.removesuffix('.jsonl')} {kind} {at // CHUNK}", found[at : at + CHUNK]


CHUNKS = dict(chunks())


@pytest.mark.parametrize("chunk", CHUNKS)
def test_no_row_is_judged_as_it_must_not_be(chunk: str) -> None:
    wrong = {row["id"]: judged(row) for row in CHUNKS[chunk] if judged(row) not in row["want"]}
    assert wrong == {}
