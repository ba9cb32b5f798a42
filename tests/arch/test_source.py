"""Habits of the source: short modules, no printing, processes started in one place only."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SRC = Path(__file__).parents[2] / "src" / "bridle"
MODULES = sorted(path for path in SRC.rglob("*.py"))
SPAWN = Path("runtime/spawn.py")
STARTERS = {
    "subprocess": None,
    "pty": None,
    "os": {"system", "popen", "fork", "forkpty", "posix_spawn", "posix_spawnp"},
    "asyncio": {"create_subprocess_exec", "create_subprocess_shell"},
    "multiprocessing": None,
}
LONGEST = 400


def name(path: Path) -> str:
    return str(path.relative_to(SRC))


def running_code(path: Path) -> Iterator[ast.AST]:
    """Every node but those that only a type checker sees."""
    pending: list[ast.AST] = [ast.parse(path.read_text("utf-8"))]
    while pending:
        node = pending.pop()
        yield node
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            pending.extend(node.orelse)
        else:
            pending.extend(ast.iter_child_nodes(node))


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_modules_stay_short(path: Path) -> None:
    assert len(path.read_text("utf-8").splitlines()) <= LONGEST, "look for the second idea in it"


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_the_library_never_prints(path: Path) -> None:
    if path.relative_to(SRC).parts[0] in ("cli", "__main__.py"):
        return
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id != "print", f"line {node.lineno}"


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_one_module_starts_processes(path: Path) -> None:
    if path.relative_to(SRC) == SPAWN:
        return
    for node in running_code(path):
        if isinstance(node, ast.Import):
            starters = [a.name for a in node.names if a.name in STARTERS and STARTERS[a.name] is None]
            assert not starters, f"line {node.lineno}: {starters}"
        elif isinstance(node, ast.ImportFrom) and node.module in STARTERS:
            allowed = STARTERS[node.module]
            named = {a.name for a in node.names}
            assert allowed is not None, f"line {node.lineno}: {node.module}"
            assert not named & allowed, f"line {node.lineno}"
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            forbidden = STARTERS.get(node.value.id) or set()
            starts = node.attr in forbidden or (
                node.value.id == "os" and node.attr.startswith(("exec", "spawn"))
            )
            assert not starts, f"line {node.lineno}: {node.value.id}.{node.attr}"


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_every_module_says_what_it_is(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text("utf-8")))
