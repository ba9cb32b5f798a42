"""Patterns that look through a text cost no more than its length: a model, a tool or a server may send any.

A pattern that is only matched at one place is not here: it starts once.
"""

from __future__ import annotations

import ast
import importlib
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

SRC = Path(__file__).parents[2] / "src" / "checkrein"
PACKAGES = ("base", "policy", "llm", "runtime", "protocol", "serve", "model")
SCANS = ("search", "finditer", "sub", "subn", "findall", "split")
UNITS = (
    *("x", "1", " ", "\n", "=", '"', "-", ".", "/", "`", "*", "[", "(", "{", "$", "\\", "<", "#", "|", "é"),
    *("a ", "a.", "a/", "a=", "a:", "a,", "a-", "_a", "aA1+", " x\n", "- a\n", '"a":', "key ", "token", "@a"),
)
BOUNDED = {
    "checkrein.base.secret_values._BODY": "looks at 1,024 characters",
    "checkrein.policy.remote._STRANGE_IN_PATTERN": "names of servers in rules",
}
SHORT, LONG = 3_000, 12_000


def _scanning(path: Path) -> Iterator[tuple[str, str]]:
    """The patterns of a module that look through a text, each with its place."""
    text = path.read_text("utf-8")
    if not any(f".{scan}(" in text for scan in SCANS):
        return
    name = "checkrein." + ".".join(path.relative_to(SRC).with_suffix("").parts).removesuffix(".__init__")
    module = importlib.import_module(name)
    for node in ast.walk(ast.parse(text)):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        if node.func.attr not in SCANS or not isinstance(node.func.value, ast.Name):
            continue
        owner = node.func.value.id
        found = getattr(module, owner, None)
        if isinstance(found, re.Pattern) and isinstance(found.pattern, str):
            yield f"{name}.{owner}", f"(?{_letters(found.flags)}){found.pattern}"
        elif owner == "re" and node.args:
            first = node.args[0]
            value = (
                first.value
                if isinstance(first, ast.Constant)
                else getattr(module, getattr(first, "id", ""), None)
            )
            if isinstance(value, str):
                yield f"{name}:{node.lineno}", value


def _letters(flags: int) -> str:
    known = (("i", re.I), ("m", re.M), ("s", re.S), ("x", re.X), ("a", re.A))
    return "".join(letter for letter, flag in known if flags & flag) or "u"


def _patterns() -> dict[str, str]:
    paths = (path for package in PACKAGES for path in sorted((SRC / package).rglob("*.py")))
    found = {where: pattern for path in paths for where, pattern in _scanning(path)}
    return {where: pattern for where, pattern in found.items() if where not in BOUNDED}


def _seconds(pattern: re.Pattern[str], text: str) -> float:
    began = time.process_time()
    for _ in pattern.finditer(text):
        pass
    return time.process_time() - began


def _is_steep(pattern: re.Pattern[str], unit: str, end: str) -> bool:
    short, long = ((unit * size)[:size] + end for size in (SHORT, LONG))
    if _seconds(pattern, short) < 0.004:
        return False
    quick = min(_seconds(pattern, short) for _ in range(3))
    return _seconds(pattern, long) > 9 * max(quick, 0.002)


@pytest.mark.untraced
def test_a_search_costs_no_more_than_the_length_of_its_text() -> None:
    patterns = _patterns()
    assert len(patterns) > 100
    steep = {
        where: (unit, end)
        for where, source in patterns.items()
        for unit in UNITS
        for end in ("", "\0")
        if _is_steep(re.compile(source), unit, end)
    }
    assert not steep


def test_the_measure_knows_a_steep_pattern() -> None:
    assert _is_steep(re.compile(r"(?m)[A-Za-z0-9+/]{40,}={0,2}[ \t\r]*$"), "x", "\0")
    assert not _is_steep(re.compile(r"\w+"), "x", "\0")
