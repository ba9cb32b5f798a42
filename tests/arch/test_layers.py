"""Imports go downward only, and siblings of one layer do not import each other."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SRC = Path(__file__).parents[2] / "src" / "checkrein"

LAYERS = {
    "base": 0,
    "model": 1,
    "facts": 1,
    "policy": 2,
    "dialects": 2,
    "passes": 3,
    "llm": 3,
    "deploy": 4,
    "compile": 4,
    "runtime": 5,
    "protocol": 6,
    "recipes": 6,
    "serve": 7,
    "cli": 8,
    "testing": 8,
}

MODULES = sorted(path for path in SRC.rglob("*.py"))


def package_of(module: str) -> str | None:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[0] == "checkrein" else None


def imports(path: Path) -> list[tuple[str, int]]:
    """Every checkrein module that a file imports at run time, with the line."""
    tree = ast.parse(path.read_text("utf-8"))
    found: list[tuple[str, int]] = []

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for child in node.orelse:
                visit(child)
            return
        if isinstance(node, ast.Import):
            found.extend((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            found.append((node.module, node.lineno))
            if node.module == "checkrein":
                found.extend((f"checkrein.{alias.name}", node.lineno) for alias in node.names)
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(tree)
    return [(name, line) for name, line in found if name.split(".")[0] == "checkrein"]


def wrong_way(path: Path) -> list[str]:
    own = path.relative_to(SRC).parts[0]
    if own not in LAYERS:
        return [] if own in ("__init__.py", "__main__.py") else [f"{own} has no layer"]
    found = []
    for module, line in imports(path):
        other = package_of(module)
        if other not in LAYERS or other == own or LAYERS[other] < LAYERS[own]:
            continue
        way = "upward" if LAYERS[other] > LAYERS[own] else "sideways"
        found.append(f"{path.relative_to(SRC)}:{line} imports {module}: {way}")
    return found


def test_imports_go_down() -> None:
    assert [wrong for path in MODULES for wrong in wrong_way(path)] == []


SHARED = ("__pycache__", "generic")  # `generic` is the engine of every writer
DIALECTS = sorted(
    path.name for path in (SRC / "dialects").iterdir() if path.is_dir() and path.name not in SHARED
)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_dialects_do_not_import_each_other(dialect: str) -> None:
    for path in (SRC / "dialects" / dialect).rglob("*.py"):
        for module, line in imports(path):
            parts = module.split(".")
            if parts[:2] == ["checkrein", "dialects"] and len(parts) > 2 and parts[2] in DIALECTS:
                assert parts[2] == dialect, f"{path.relative_to(SRC)}:{line} imports {module}"
