"""Run with `pytest` after `pip install -e .`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest
from checkrein_house.checks import CHECKS, SKILL_OWNER
from checkrein_house.tools import COUNT_WORDS

import checkrein


@pytest.mark.parametrize(("files", "codes"), [(SKILL_OWNER.bad, ["HOUSE001"]), (SKILL_OWNER.good, [])])
def test_the_examples_of_the_check(tmp_path: Path, files: dict[str, str], codes: list[str]) -> None:
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True)
        path.write_text(text)
    project = checkrein.load(tmp_path, env={}, home=str(tmp_path / "home"))
    assert [found.code for found in checkrein.check(project, select=["HOUSE"], extra=CHECKS)] == codes


def test_words_are_counted() -> None:
    context = cast("Any", None)
    assert COUNT_WORDS.run({"text": "one two  three"}, context).structured == {"words": 3}
