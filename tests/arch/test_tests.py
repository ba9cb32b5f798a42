"""Habits of the tests: a fixture is defined once, or once more where a folder refines it."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
SRC = TESTS.parent / "src" / "checkrein"
MOST = 2
MIRRORED = (
    "runtime/call/gate",
    "runtime/call/host",
    "runtime/call/offer",
    "runtime/call/toolset",
    "runtime/turn/turn",
    "runtime/session/session",
    "runtime/session/assembly",
    "runtime/session/conversation",
    "runtime/session/channel",
    "runtime/session/wakes",
    "runtime/agents/helper",
    "runtime/agents/children",
    "runtime/agents/work",
    "runtime/agents/task",
    "runtime/agents/crew",
    "runtime/agents/past",
    "runtime/agents/delivery",
    "runtime/agents/last_words",
    "runtime/agents/tool_side",
)
"""Modules at the heart of a session: each has its tests in the same place below `tests/unit`."""


def fixtures() -> dict[str, list[str]]:
    """Where each fixture is defined, by its name."""
    found = defaultdict(list)
    for path in sorted(TESTS.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and any(
                map(_is, node.decorator_list)
            ):
                found[node.name].append(f"{path.relative_to(TESTS)}:{node.lineno}")
    return found


def _is(decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return ast.unparse(called) in ("pytest.fixture", "fixture")


def test_no_fixture_is_defined_more_than_twice() -> None:
    found = fixtures()
    assert "project" in found, "the search itself finds nothing"
    often = {name: places for name, places in found.items() if len(places) > MOST}
    assert often == {}, "one fixture for all, in the conftest of the folder that they share, or a function"


@pytest.mark.parametrize("module", MIRRORED)
def test_the_heart_of_a_session_has_its_tests_where_one_looks(module: str) -> None:
    folder, _, name = module.rpartition("/")
    assert (SRC / f"{module}.py").exists()
    assert (TESTS / "unit" / folder / f"test_{name}.py").exists()
