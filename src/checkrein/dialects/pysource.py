"""Python sources of other runtimes, read by their syntax alone. It imports and runs nothing."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator

from msgspec import Struct

from checkrein.base.files import read_text

MAX_FILES = 60
MAX_BYTES = 512 * 1024
_SKIPPED = frozenset({"__pycache__", ".venv", "venv", "env", "node_modules", ".git", ".pytest_cache"})


class Source(Struct, frozen=True):
    """One parsed file. `path` is relative to the root, with `/`."""

    path: str
    tree: ast.Module


class Call(Struct, frozen=True):
    """A call by name. `texts` holds the keywords whose values are plain text, `names` lists of names."""

    name: str
    line: int
    end: int
    texts: dict[str, str]
    names: dict[str, tuple[str, ...]]
    args: tuple[str, ...]


def sources(root: str, warnings: list[str]) -> list[Source]:
    found: list[Source] = []
    for here, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED and name[0] != ".")
        for name in sorted(files):
            if not name.endswith(".py") or len(found) >= MAX_FILES:
                continue
            path = os.path.join(here, name)
            shown = os.path.relpath(path, root).replace(os.sep, "/")
            loaded = read_text(path, MAX_BYTES, within=(root,))
            try:
                found.append(Source(shown, ast.parse(loaded.text)))
            except (SyntaxError, ValueError, RecursionError) as error:
                warnings.append(f"{shown} can't be parsed: {error}")
    return found


def calls(source: Source, *wanted: str) -> Iterator[Call]:
    """Calls of `Name(...)` or `x.name(...)` with a wanted name, in order of lines."""
    nodes = [node for node in ast.walk(source.tree) if isinstance(node, ast.Call)]
    for node in sorted(nodes, key=lambda one: (one.lineno, one.col_offset)):
        name = _name(node.func)
        if name not in wanted:
            continue
        texts: dict[str, str] = {}
        names: dict[str, tuple[str, ...]] = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                continue
            text = _text(keyword.value)
            if text is not None:
                texts[keyword.arg] = text
            elif isinstance(keyword.value, ast.List | ast.Tuple):
                names[keyword.arg] = tuple(_text(item) or _name(item) or "?" for item in keyword.value.elts)
        args = tuple(_text(item) or _name(item) or "?" for item in node.args)
        yield Call(name, node.lineno, node.end_lineno or node.lineno, texts, names, args)


def decorated(source: Source, *wanted: str) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Functions under one of the decorators."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and any(
            _name(item.func if isinstance(item, ast.Call) else item) in wanted for item in node.decorator_list
        ):
            yield node


def functions(source: Source) -> dict[str, ast.FunctionDef | ast.AsyncFunctionDef]:
    return {
        node.name: node
        for node in ast.walk(source.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""


def _text(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return None
