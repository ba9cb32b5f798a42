"""Python classes that only hold data: dataclasses, TypedDict, NamedTuple, pydantic models, enums. This module
parses their text and never runs it."""

from __future__ import annotations

import ast
import warnings

from checkrein.compile.shapes.resolve import Resolver
from checkrein.compile.shapes.tree import (
    ANY,
    NOTHING,
    NUMBER,
    TEXT,
    TRUTH,
    WHOLE,
    Both,
    ListOf,
    MapOf,
    Member,
    Ref,
    Shape,
    Shapes,
    UnfitError,
    choice,
    either,
    merged,
    roots,
)

_NAMES: dict[str, Shape] = {
    **dict.fromkeys(
        ("str", "date", "datetime", "time", "timedelta", "Path", "UUID", "HttpUrl", "AnyUrl"), TEXT
    ),
    **dict.fromkeys(("EmailStr", "bytes"), TEXT),
    "int": WHOLE,
    **dict.fromkeys(("float", "Decimal"), NUMBER),
    "bool": TRUTH,
    "None": NOTHING,
    "Any": ANY,
    "object": ANY,
    **dict.fromkeys(("dict", "Dict", "Mapping"), MapOf(ANY)),
    **dict.fromkeys(("list", "List", "Sequence", "tuple", "Tuple", "set", "Set"), ListOf(ANY)),
}
_LISTS = ("list", "List", "Sequence", "Iterable", "tuple", "Tuple", "set", "Set", "frozenset", "FrozenSet")
_MAPS = ("dict", "Dict", "Mapping", "MutableMapping", "defaultdict", "OrderedDict")
_DATA = ("BaseModel", "TypedDict", "NamedTuple")
_ENUMS = ("Enum", "StrEnum", "IntEnum", "str", "int")
_QUIET = (ast.Import, ast.ImportFrom, ast.Pass)


def read_python(text: str) -> Shapes:
    """The classes that hold data. Raises UnfitError for anything other than their declarations."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise UnfitError from None
    declared: dict[str, Shape] = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            declared[node.name] = _class(node, declared)
        elif (
            isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
        ):
            declared[node.targets[0].id] = _annotation(node.value)
        elif not isinstance(node, _QUIET) and not _is_text(node):
            raise UnfitError
    return roots(Resolver(declared).objects())


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _last(node: ast.expr) -> str:
    """The name of `x`, `a.x`, `x(...)`."""
    if isinstance(node, ast.Call):
        return _last(node.func)
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _class(node: ast.ClassDef, declared: dict[str, Shape]) -> Shape:
    bases = [_last(base) for base in node.bases]
    if bases and "Enum" in bases[-1] and all(base in _ENUMS for base in bases):
        return _enum(node)
    above = [Ref(base) for base in bases if base in declared]
    data = "dataclass" in [_last(one) for one in node.decorator_list]
    if not (data or above or any(base in _DATA for base in bases)):
        raise UnfitError
    if any(base not in declared and base not in (*_DATA, "Generic", "ABC", "object") for base in bases):
        raise UnfitError
    total = not any(
        one.arg == "total" and isinstance(one.value, ast.Constant) and one.value.value is False
        for one in node.keywords
    )
    members: list[Member] = []
    for line in node.body:
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
            made = _member(line, line.target.id, total)
            members += [made] if made is not None else []
    if not above:
        return merged(members, node.name)
    return Both((*above, *([merged(members)] if members else [])), node.name)


def _enum(node: ast.ClassDef) -> Shape:
    values = [line.value for line in node.body if isinstance(line, ast.Assign)]
    if not values:
        raise UnfitError
    if all(isinstance(one, ast.Constant) and isinstance(one.value, str) for one in values):
        return choice(str(one.value) for one in values if isinstance(one, ast.Constant))
    if all(isinstance(one, ast.Constant) and type(one.value) is int for one in values):
        return WHOLE
    if all(isinstance(one, ast.Call) and _last(one) == "auto" for one in values):
        return WHOLE
    raise UnfitError


def _member(line: ast.AnnAssign, name: str, total: bool) -> Member | None:
    note = line.annotation
    required = total
    while isinstance(note, ast.Subscript) and _last(note.value) in ("Required", "NotRequired", "ReadOnly"):
        required = {"Required": True, "NotRequired": False}.get(_last(note.value), required)
        note = note.slice
    if (isinstance(note, ast.Subscript) and _last(note.value) == "ClassVar") or name.startswith("_"):
        return None
    key = name
    if isinstance(line.value, ast.Call) and _last(line.value) in ("Field", "field"):
        given = {one.arg: one.value for one in line.value.keywords}
        first = line.value.args[0] if line.value.args else given.get("default")
        open_ended = isinstance(first, ast.Constant) and first.value is ...
        required = required and ("default_factory" not in given and (first is None or open_ended))
        alias = given.get("alias")
        if isinstance(alias, ast.Constant) and isinstance(alias.value, str):
            key = alias.value
    elif line.value is not None:
        required = False
    return Member(key, _annotation(note), required)


def _annotation(node: ast.expr) -> Shape:
    """The type of an annotation; an unknown one may be anything."""
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            try:
                return _annotation(ast.parse(node.value.strip(), mode="eval").body)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                return ANY
        return NOTHING if node.value is None else ANY
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return either((_annotation(node.left), _annotation(node.right)))
    if isinstance(node, ast.Name | ast.Attribute):
        name = _last(node)
        return _NAMES.get(name, Ref(name))
    if isinstance(node, ast.Subscript):
        return _subscript(_last(node.value), node.slice)
    return ANY


def _subscript(name: str, given: ast.expr) -> Shape:
    parts = given.elts if isinstance(given, ast.Tuple) else [given]
    if name == "Literal":
        return either(_literal(part) for part in parts) if parts else ANY
    if name == "Optional":
        return either((_annotation(given), NOTHING))
    if name == "Union":
        return either(_annotation(part) for part in parts) if parts else ANY
    if name == "Annotated":
        return _annotation(parts[0]) if parts else ANY
    if name in _MAPS:
        return MapOf(_annotation(parts[1]) if len(parts) == 2 else ANY)
    if name in _LISTS:
        kinds = [_annotation(part) for part in parts if not _is_rest(part)]
        return ListOf(either(kinds) if kinds else ANY)
    return ANY


def _is_rest(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


def _literal(node: ast.expr) -> Shape:
    value = node.value if isinstance(node, ast.Constant) else ...
    if isinstance(value, str):
        return choice([value])
    if isinstance(value, bool):
        return TRUTH
    return NOTHING if value is None else WHOLE if isinstance(value, int) else ANY
