"""What lints need from a parsed module: its names, imports, statements and calls."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

_BODIES = ("body", "handlers", "orelse", "finalbody", "cases")
_INNER: dict[type[ast.AST], tuple[str, ...]] = {
    kind: fields
    for kind in vars(ast).values()
    if isinstance(kind, type)
    and issubclass(kind, ast.stmt | ast.excepthandler | ast.match_case)
    and (fields := tuple(field for field in _BODIES if field in kind._fields))
}
"""Where a statement holds inner statements, by its kind; most kinds have none."""


def names(tree: ast.Module) -> set[str]:
    found: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
        elif isinstance(node, ast.Assign):
            found.update(target.id for target in node.targets if isinstance(target, ast.Name))
    return found


def imports(tree: ast.Module, text: str) -> Iterator[ast.ImportFrom]:
    """Every `from ... import`. It looks deeper when the text names more imports than the top level has."""
    top = [node for node in tree.body if isinstance(node, ast.ImportFrom | ast.Import)]
    deeper = text.count("import") > len(top)
    for node in statements(tree.body) if deeper else top:
        if isinstance(node, ast.ImportFrom):
            yield node


def statements(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Every statement, inner ones too; expressions contain none, so it skips them."""
    for node in body:
        yield node
        for field in _INNER.get(type(node), ()):
            yield from statements(getattr(node, field))


def calls(node: ast.AST) -> Iterator[ast.Call]:
    """The calls in a statement; it skips constants, of which there are thousands."""
    found: list[ast.AST] = [node]
    for one in found:
        if isinstance(one, ast.Call):
            yield one
        for name in one._fields:
            value = getattr(one, name, None)
            if isinstance(value, list):
                found += [
                    part for part in value if isinstance(part, ast.AST) and type(part) is not ast.Constant
                ]
            elif isinstance(value, ast.AST):
                found.append(value)
