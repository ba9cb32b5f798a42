"""Every code that deploy, import and spec-kit can report stands in the table, and the other way round."""

from __future__ import annotations

import re
from pathlib import Path

from checkrein.dialects.generic.loss_codes import CODES
from checkrein.passes.codes import pages

SRC = Path(__file__).parents[4] / "src" / "checkrein"


def used_codes() -> set[str]:
    found: set[str] = set()
    for folder in ("dialects", "deploy", "cli"):
        for path in (SRC / folder).rglob("*.py"):
            if path.name != "codes.py":
                found |= set(re.findall(r'"((?:DEP|SPK|IMP01)\d+)"', path.read_text("utf-8")))
    return found


def test_the_table_is_complete() -> None:
    assert used_codes() == set(CODES)


def test_every_code_has_a_page() -> None:
    assert set(CODES) <= set(pages())
