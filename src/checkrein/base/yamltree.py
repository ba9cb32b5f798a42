"""A YAML file as plain values with the place of every member. It never raises.

Keys keep the text that the file has, also those that YAML reads as something else (`on`, `1`). A scalar that
JSON has no form for (a date, a number without end) keeps its text too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from checkrein.base.frontmatter import is_shallow, yaml_loader
from checkrein.base.origin import Span

_NODE_LIMIT = 100_000
_MERGE = "tag:yaml.org,2002:merge"


class Tree(Struct, frozen=True):
    """A value and where it is; `span` of a member begins at its key. `members` are those of a mapping,
    `items` those of a list. `duplicates` are the keys that a mapping has more than once; the last counts."""

    value: Any
    span: Span
    members: dict[str, Tree] = {}
    items: tuple[Tree, ...] = ()
    duplicates: tuple[str, ...] = ()

    def spans(self) -> dict[str, Span]:
        """The places of everything inside, by path: `with.cmd`, `on_result[0].when`."""
        return {path: tree.span for path, tree in self.walk() if path}

    def repeated(self) -> Iterator[tuple[str, Span]]:
        """The keys that a mapping anywhere inside has more than once, by path, with the place that counts."""
        for path, tree in self.walk():
            for name in tree.duplicates:
                yield f"{path}.{name}" if path else name, tree.members[name].span

    def walk(self) -> Iterator[tuple[str, Tree]]:
        """The tree itself, whose path is empty, and everything inside."""
        pending = [("", self)]
        while pending:
            path, tree = pending.pop()
            yield path, tree
            pending += [(f"{path}.{name}" if path else name, member) for name, member in tree.members.items()]
            pending += [(f"{path}[{number}]", item) for number, item in enumerate(tree.items)]


class NotYaml(Struct, frozen=True):
    message: str
    line: int = 1


class _TooLargeError(Exception):
    pass


def parse_tree(source: str) -> Tree | NotYaml:
    """The one document of a YAML text."""
    import yaml

    source = source.replace("\r\n", "\n")
    if not is_shallow(source):
        return NotYaml("it is nested too deeply")
    loader = None
    try:
        loader = yaml_loader()(source)
        node = loader.get_single_node()
        if node is None:
            return Tree(None, Span(1))
        return _Builder(loader).build(node, node)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        message = getattr(error, "problem", None) or str(error).splitlines()[0]
        return NotYaml(str(message), mark.line + 1 if mark else 1)
    except _TooLargeError:
        return NotYaml("its aliases expand too far")
    except (ValueError, OverflowError, RecursionError, TypeError) as error:
        return NotYaml(str(error))
    finally:
        if loader is not None:
            loader.dispose()


class _Builder:
    def __init__(self, loader: Any) -> None:
        self.loader = loader
        self.nodes = 0
        self.open: set[int] = set()

    def build(self, node: Any, first: Any) -> Tree:
        self.nodes += 1
        if self.nodes > _NODE_LIMIT or id(node) in self.open:
            raise _TooLargeError
        if node.id == "scalar":
            return Tree(self._scalar(node), _span(first.start_mark, node.end_mark))
        self.open.add(id(node))
        tree = self._mapping(node, first) if node.id == "mapping" else self._sequence(node, first)
        self.open.discard(id(node))
        return tree

    def _sequence(self, node: Any, first: Any) -> Tree:
        items = tuple(self.build(item, item) for item in node.value)
        return Tree([item.value for item in items], _span_of_block(first, node, items), items=items)

    def _mapping(self, node: Any, first: Any) -> Tree:
        members: dict[str, Tree] = {}
        inherited: dict[str, Tree] = {}
        duplicates: list[str] = []
        for key, value in node.value:
            if key.tag == _MERGE:
                inherited = self._inherited(value) | inherited
                continue
            name = key.value if isinstance(key.value, str) else "?"
            if name in members:
                duplicates.append(name)
            members[name] = self.build(value, key)
        members = {**inherited, **members}
        values = {name: member.value for name, member in members.items()}
        span = _span_of_block(first, node, tuple(members.values()))
        return Tree(values, span, members, duplicates=tuple(duplicates))

    def _inherited(self, value: Any) -> dict[str, Tree]:
        """The members that `<<` brings in; of several mappings the first wins."""
        found: dict[str, Tree] = {}
        for source in value.value if value.id == "sequence" else [value]:
            if source.id == "mapping":
                found = self.build(source, source).members | found
        return found

    def _scalar(self, node: Any) -> Any:
        try:
            value = self.loader.construct_object(node, deep=True)
        except (ValueError, OverflowError):
            return node.value
        if isinstance(value, float) and not math.isfinite(value):
            return node.value
        return value if isinstance(value, (str, int, float, bool, type(None))) else node.value


def _span_of_block(first: Any, node: Any, inner: tuple[Tree, ...]) -> Span:
    """A block ends with its last member; for YAML it ends where the next one begins."""
    whole = _span(first.start_mark, node.end_mark)
    if node.flow_style or not inner:
        return whole
    last = max((one.span for one in inner), key=lambda span: (span.last_line, span.end_column or 1 << 30))
    return Span(whole.line, whole.column, last.last_line, last.end_column)


def _span(start: Any, end: Any) -> Span:
    """`end` is after the line break where a block ends."""
    if end.column == 0 and end.line > start.line:
        return Span(start.line + 1, start.column + 1, end.line, 0)
    return Span(start.line + 1, start.column + 1, end.line + 1, end.column + 1)
