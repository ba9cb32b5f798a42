"""Templates and sheets agree: each name and attribute in a template is a field of its sheet's types."""

from __future__ import annotations

import types
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

import pytest
from jinja2 import UndefinedError, nodes
from msgspec import Struct

from checkrein.compile import render, sheets
from checkrein.compile.sheets import Sheet

SHEETS: dict[str, type[Sheet]] = {one.TEMPLATE: one for one in Sheet.__subclasses__()}
TEMPLATES = Path(sheets.__file__).parent / "templates"
_OF_LISTS = ("tuple", "list", "set", "frozenset")


def source(name: str) -> str:
    return (TEMPLATES / f"{name}.j2").read_text("utf-8")


class Reader:
    """Follows the types of a template's expressions. What can't be followed is Any and not judged."""

    def __init__(self, sheet: type[Sheet]) -> None:
        self.given = get_type_hints(sheet)
        self.names: dict[str, Any] = {}
        self.used: set[str] = set()
        self.wrong: list[str] = []
        self.attributes = 0

    def read(self, text: str) -> None:
        self._each(render._environment().parse(text))

    def _each(self, node: nodes.Node) -> None:
        for child in node.iter_child_nodes():
            self.visit(child)

    def visit(self, node: nodes.Node) -> Any:
        found = getattr(self, f"on_{type(node).__name__.lower()}", None)
        if found is not None:
            return found(node)
        self._each(node)
        return Any

    def on_name(self, node: nodes.Name) -> Any:
        if node.name in self.names or node.name == "loop":
            return self.names.get(node.name, Any)
        self.used.add(node.name)
        if node.name not in self.given:
            self.wrong.append(f"{node.lineno}: {node.name}")
        return self.given.get(node.name, Any)

    def on_getattr(self, node: nodes.Getattr) -> Any:
        owner = _without_none(self.visit(node.node))
        if not (isinstance(owner, type) and issubclass(owner, Struct)):
            return Any
        self.attributes += 1
        hints = get_type_hints(owner)
        if node.attr in hints:
            return hints[node.attr]
        member = getattr(owner, node.attr, None)
        if member is None:
            self.wrong.append(f"{node.lineno}: {owner.__name__}.{node.attr}")
            return Any
        getter = member.fget if isinstance(member, property) else member
        return get_type_hints(getter).get("return", Any) if isinstance(member, property) else Any

    def on_getitem(self, node: nodes.Getitem) -> Any:
        self.visit(node.arg)
        return (
            _item(self.visit(node.node)) if not isinstance(node.arg, nodes.Slice) else self.visit(node.node)
        )

    def on_add(self, node: nodes.Add) -> Any:
        self.visit(node.right)
        return self.visit(node.left)

    def on_filter(self, node: nodes.Filter) -> Any:
        self._each(node)
        return Any

    def on_assign(self, node: nodes.Assign) -> Any:
        self._bind(node.target, self.visit(node.node))

    def on_for(self, node: nodes.For) -> Any:
        self._bind(node.target, _item(self.visit(node.iter)))
        for child in (*([node.test] if node.test else []), *node.body, *node.else_):
            self.visit(child)

    def _bind(self, target: nodes.Node, kind: Any) -> None:
        if isinstance(target, nodes.Name):
            self.names[target.name] = kind
        elif isinstance(target, nodes.Tuple):
            inner = get_args(kind) if get_origin(kind) is tuple else ()
            for index, one in enumerate(target.items):
                self._bind(one, inner[index] if index < len(inner) and inner[index] is not ... else Any)


def _without_none(kind: Any) -> Any:
    if get_origin(kind) in (Union, types.UnionType):
        rest = [one for one in get_args(kind) if one is not type(None)]
        return rest[0] if len(rest) == 1 else Any
    return kind


def _item(kind: Any) -> Any:
    kind = _without_none(kind)
    arguments = get_args(kind)
    if getattr(get_origin(kind), "__name__", "") in _OF_LISTS and arguments:
        return arguments[0] if len(arguments) == 1 or arguments[1:] == (...,) else Any
    return Any


def test_every_template_has_one_sheet() -> None:
    assert sorted(SHEETS) == sorted(path.name.removesuffix(".j2") for path in TEMPLATES.iterdir())
    assert len(SHEETS) == len(Sheet.__subclasses__())


@pytest.mark.parametrize("name", sorted(SHEETS))
def test_a_template_uses_the_fields_of_its_sheet(name: str) -> None:
    reader = Reader(SHEETS[name])
    reader.read(source(name))
    assert reader.wrong == []
    assert reader.used == set(SHEETS[name].__struct_fields__)


def test_attributes_are_followed_through_loops_and_properties() -> None:
    reader = Reader(SHEETS["test_run.py"])
    reader.read(
        "{% for step in b.run_steps %}{% for one in step.record.fields %}{{ one.nam }}"
        "{% endfor %}{% endfor %}"
    )
    assert reader.wrong == ["1: Field.nam"]
    reader = Reader(SHEETS["mapping_report.md"])
    reader.read(
        "{% for file, rows in by_file %}{% for element, mapping in rows %}{{ mapping.targt }}"
        "{% endfor %}{% endfor %}{{ x }}"
    )
    assert reader.wrong == ["1: Mapping.targt", "1: x"]


def test_most_attributes_are_known() -> None:
    seen = 0
    for name, sheet in SHEETS.items():
        reader = Reader(sheet)
        reader.read(source(name))
        seen += reader.attributes
    assert seen > 250


def test_a_name_without_a_value_is_an_error() -> None:
    template = render._environment().from_string("{{ b.nothing }}")
    with pytest.raises(UndefinedError):
        template.render(b=object())
