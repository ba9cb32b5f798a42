"""Every verb by every outcome has its golden file, its test, or the reason why there is none.

The table is data/machine_outcomes.json: by outcome, `golden` says that verbs have a golden file of that name,
a verb's own row or `*` for the others names a golden file, a test, or the reason.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from checkrein.protocol.machine.verbs import MACHINE, OPT_OUT

ROOT = Path(__file__).parents[2]
DATA = Path(__file__).parent / "data"
TABLE: dict[str, dict[str, str]] = json.loads((DATA / "machine_outcomes.json").read_text("utf-8"))
GOLDEN = {file.stem for file in (DATA / "machine").glob("*.json")}
OUTCOMES = (
    "success",
    "not_found",
    "usage",
    "corrupt",
    "unwritable",
    "no_terminal",
    "closed_stdin",
    "megabyte",
    "unicode",
    "concurrent",
)


def test_the_table_has_every_outcome_and_no_other_verb() -> None:
    assert tuple(TABLE) == OUTCOMES
    for rows in TABLE.values():
        assert set(rows) <= {"golden", "*", *MACHINE, *OPT_OUT}


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("verb", [*MACHINE, *OPT_OUT])
def test_a_golden_file_a_test_or_a_reason(verb: str, outcome: str) -> None:
    rows = TABLE[outcome]
    own = f"{verb}.{outcome}"
    proof = rows.get(verb) or (f"golden {own}" if "golden" in rows and own in GOLDEN else rows.get("*"))
    assert proof, f"{own} has neither a golden file nor a reason"
    named = re.findall(r"golden ([\w-]+\.\w+)", proof)
    assert set(named) <= GOLDEN
    if own in GOLDEN:
        assert own in named, f"{own} has a golden file; drop the reason from the table"
    for file, test in re.findall(r"(tests/[\w/]+\.py)::(test_\w+)", proof):
        assert f"def {test}(" in (ROOT / file).read_text("utf-8"), test


def test_a_success_is_shown_by_every_verb_that_has_one() -> None:
    for verb in (*MACHINE, *OPT_OUT):
        document = json.loads((DATA / "machine" / f"{verb}.success.json").read_text("utf-8"))
        assert set(document) == {"1.0", "2.0", "text"}
        answer = document["2.0"]
        assert "data" in answer or answer["error"]["kind"] == "not_implemented", verb
