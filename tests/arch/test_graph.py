"""The import graph: no knots. Edges that only a type checker sees count, for a reader follows them too."""

from __future__ import annotations

import ast
from pathlib import Path

SRC = Path(__file__).parents[2] / "src" / "checkrein"
LARGEST = 8


def modules() -> dict[str, Path]:
    found = {}
    for path in SRC.rglob("*.py"):
        parts = ("checkrein", *path.relative_to(SRC).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def edges(known: dict[str, Path]) -> dict[str, set[str]]:
    """Which of our modules each module imports, anywhere in its text."""
    graph: dict[str, set[str]] = {name: set() for name in known}
    for name, path in known.items():
        if name == "checkrein":
            continue  # the lazy exports name every layer by design
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                targets = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                below = [f"{node.module}.{alias.name}" for alias in node.names]
                targets = [one if one in known else node.module for one in below]
            else:
                continue
            graph[name].update(one for one in targets if one in known and one != name)
    return graph


def components(graph: dict[str, set[str]]) -> list[list[str]]:
    """Strongly connected components (Tarjan, without recursion)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    on_stack: set[str] = set()
    found: list[list[str]] = []
    for start in graph:
        if start in index:
            continue
        work = [(start, iter(sorted(graph[start])))]
        index[start] = low[start] = len(index)
        stack.append(start)
        on_stack.add(start)
        while work:
            node, following = work[-1]
            for other in following:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    on_stack.add(other)
                    work.append((other, iter(sorted(graph[other]))))
                    break
                if other in on_stack:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    group = []
                    while True:
                        member = stack.pop()
                        on_stack.discard(member)
                        group.append(member)
                        if member == node:
                            break
                    found.append(sorted(group))
    return found


def test_the_search_finds_a_knot() -> None:
    assert sorted(map(len, components({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}))) == [1, 3]


def test_no_knot_is_large() -> None:
    knots = [group for group in components(edges(modules())) if len(group) > LARGEST]
    assert knots == []
