"""Python code: whether it can only compute, print, and read and write files."""

from __future__ import annotations

import ast
import re
import sys
import warnings

from checkrein.facts.code_words import (
    PYTHON_ATTRIBUTES,
    PYTHON_MODULES,
    PYTHON_NAMES,
    PYTHON_PARTS,
    PYTHON_RUNNERS,
)

_ATTRIBUTE = re.compile(PYTHON_ATTRIBUTES)


def is_plain(code: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    reader = _Reader()
    try:
        reader.imports(tree)
        return reader.check(tree)
    except RecursionError:
        return False


class _Reader:
    def __init__(self) -> None:
        self.parts: dict[str, str] = {}
        """Names in the code of modules that may be used only in parts."""
        self.plain = True

    def imports(self, tree: ast.AST) -> None:
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for one in node.names:
                    self._module(
                        one.name, one.asname or one.name.partition(".")[0], bound=one.asname is not None
                    )
            elif isinstance(node, ast.ImportFrom):
                for one in node.names:
                    self._member(node.module or "", one.name, one.asname or one.name)

    def _module(self, name: str, alias: str, *, bound: bool) -> None:
        top = name.partition(".")[0]
        self.plain = self.plain and _may_import(name)
        whole = name if bound else top
        if whole in PYTHON_PARTS:
            self.parts[alias] = whole

    def _member(self, module: str, name: str, alias: str) -> None:
        full = f"{module}.{name}"
        if module in PYTHON_PARTS:
            self.plain = self.plain and name in PYTHON_PARTS[module]
            if full in PYTHON_PARTS:
                self.parts[alias] = full
        elif full in PYTHON_MODULES or full in PYTHON_PARTS:
            if full in PYTHON_PARTS:
                self.parts[alias] = full
        else:
            self.plain = self.plain and _may_import(module) and not _ATTRIBUTE.fullmatch(name) and name != "*"

    def check(self, tree: ast.AST) -> bool:
        if not self.plain:
            return False
        owned: set[int] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute):
                if not self._attribute(node, owned):
                    return False
            elif isinstance(node, ast.Name):
                if node.id in PYTHON_NAMES:
                    return False
                if node.id in self.parts and id(node) not in owned:
                    return False
            elif isinstance(node, ast.alias) or not isinstance(node, ast.stmt | ast.expr):
                continue
        return True

    def _attribute(self, node: ast.Attribute, owned: set[int]) -> bool:
        """`os.getcwd`: a part that is allowed. ast.walk goes from the outside to the inside."""
        module = self._owner(node.value)
        if module is None:
            return _ATTRIBUTE.fullmatch(node.attr) is None
        if isinstance(node.value, ast.Name):
            owned.add(id(node.value))
        return node.attr in PYTHON_PARTS[module]

    def _owner(self, node: ast.expr) -> str | None:
        if isinstance(node, ast.Name):
            return self.parts.get(node.id)
        if isinstance(node, ast.Attribute):
            outer = self._owner(node.value)
            full = f"{outer}.{node.attr}"
            return full if outer is not None and full in PYTHON_PARTS else None
        return None


def _may_import(name: str) -> bool:
    top = name.partition(".")[0]
    if name in PYTHON_MODULES or top in PYTHON_MODULES or name in PYTHON_PARTS:
        return True
    if name in PYTHON_RUNNERS or top in PYTHON_RUNNERS:
        return False
    return top not in sys.stdlib_module_names
