"""Every code that the source emits is explained, and every explained code is emitted."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from checkrein.cli.main import run
from checkrein.dialects.codes import CODES as READING
from checkrein.dialects.generic.loss_codes import CODES as WRITING
from checkrein.facts.codes import CODES as OTHERS
from checkrein.facts.codes import FAMILIES, family
from checkrein.facts.recipe_codes import CODES as RECIPES
from checkrein.passes.checks.table import checks
from checkrein.passes.codes import documentation, pages

SOURCE = Path(__file__).parents[2] / "src" / "checkrein"
TABLES = {
    SOURCE / part
    for part in (
        "dialects/codes.py",
        "dialects/generic/loss_codes.py",
        "facts/codes.py",
        "facts/recipe_codes.py",
    )
}
_NUMBERED = re.compile(r"[A-Z]{2,10}\d{3}")
_OTHER_NAMES = {"RS256"}
"""Names that only look like codes: of a signature."""
_WORDS = re.compile(r"session-[a-z]+(?:-[a-z]+)*")


def emitted() -> Iterator[tuple[str, str]]:
    """Every string of the source that is a code, with its place; tables are no places."""
    for file in sorted(SOURCE.rglob("*.py")):
        if file in TABLES:
            continue
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                if _NUMBERED.fullmatch(node.value) and node.value not in _OTHER_NAMES:
                    yield node.value, f"{file.relative_to(SOURCE)}:{node.lineno}"
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                first = node.args[0] if node.args and node.func.attr == "add" else None
                said = first.value if isinstance(first, ast.Constant) else None
                if isinstance(said, str) and _WORDS.fullmatch(said):
                    yield said, f"{file.relative_to(SOURCE)}:{node.lineno}"


EMITTED = dict(emitted())


def test_the_search_finds_codes_of_every_sort() -> None:
    assert {"AS001", "DEP001", "FM001", "TRUST001", "PROTO001", "session-branch"} <= set(EMITTED)


def test_every_emitted_code_is_explained() -> None:
    unknown = {code: place for code, place in EMITTED.items() if documentation(code) is None}
    assert unknown == {}, "add them to the table in facts/codes.py"


def test_every_explained_code_is_emitted() -> None:
    assert set(READING) | set(WRITING) | set(OTHERS) | set(RECIPES) <= set(EMITTED)


def test_no_code_is_explained_twice() -> None:
    tables = [READING, WRITING, OTHERS, RECIPES, checks()]
    assert sum(len(table) for table in tables) == len({code.upper() for table in tables for code in table})
    assert len(pages()) == sum(len(table) for table in tables)


def test_families_have_codes() -> None:
    assert set(FAMILIES) <= {family(code) for code in pages()}


@pytest.mark.parametrize("code", ["trust001", "IMP010", "session-branch", "SESSION-BRANCH", "RUNHOOK004"])
def test_the_command_explains_it(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "--explain", code]) == 0
    assert code.lower() in capsys.readouterr().out.lower()
