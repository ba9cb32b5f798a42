"""The tree of types that every reader gives."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

MAX_DEPTH = 12
MAX_MEMBERS = 100


class UnfitError(Exception):
    """The text is outside the known subset: it stays text."""


class Plain(Struct, frozen=True):
    name: Literal["str", "int", "float", "bool", "None", "Any"]


class Choice(Struct, frozen=True):
    """One of these strings."""

    values: tuple[str, ...]


class ListOf(Struct, frozen=True):
    item: Shape


class MapOf(Struct, frozen=True):
    """Any keys, values of one type."""

    value: Shape


class Either(Struct, frozen=True):
    options: tuple[Shape, ...]


class Member(Struct, frozen=True):
    key: str
    shape: Shape
    required: bool = True


class Object(Struct, frozen=True):
    """`name` is the declared one, if any."""

    members: tuple[Member, ...]
    name: str = ""


class Ref(Struct, frozen=True):
    """A name with its declaration elsewhere; `partial` makes every member optional. Only before `resolve`."""

    target: str
    partial: bool = False


class Both(Struct, frozen=True):
    """The members of several types together; the last of one key counts. Only before `resolve`."""

    parts: tuple[Shape, ...]
    name: str = ""


Shape = Plain | Choice | ListOf | MapOf | Either | Object | Ref | Both

TEXT, WHOLE, NUMBER, TRUTH = Plain("str"), Plain("int"), Plain("float"), Plain("bool")
NOTHING, ANY = Plain("None"), Plain("Any")


class Shapes(Struct, frozen=True):
    """`main` is what the text is about; `others` are declared beside it and are not part of it."""

    main: Object
    others: tuple[Object, ...] = ()


def either(options: Iterable[Shape]) -> Shape:
    """One of several types: strings become one choice, integers are numbers too, an unknown type wins."""
    flat: list[Shape] = []
    for option in options:
        flat += option.options if isinstance(option, Either) else (option,)
    words = tuple(dict.fromkeys(value for one in flat if isinstance(one, Choice) for value in one.values))
    found: list[Shape] = []
    for option in flat:
        one = Choice(words) if isinstance(option, Choice) else option
        if one not in found:
            found.append(one)
    if ANY in found:
        return ANY
    if TEXT in found:
        found = [one for one in found if not isinstance(one, Choice)]
    if NUMBER in found:
        found = [one for one in found if one != WHOLE]
    return found[0] if len(found) == 1 else Either(tuple(found))


def without_nothing(shape: Shape) -> tuple[Shape, bool]:
    """The type without None, and whether None was part of it."""
    if isinstance(shape, Either) and NOTHING in shape.options:
        return either(one for one in shape.options if one != NOTHING), True
    return shape, shape == NOTHING


def choice(values: Iterable[str]) -> Shape:
    """A choice of values that a Literal can hold; plain text when it can't hold one."""
    found = tuple(dict.fromkeys(values))
    return Choice(found) if found and all(one.isprintable() and len(one) <= 60 for one in found) else TEXT


def merged(members: Iterable[Member], name: str = "") -> Object:
    """An object of members; the last of one key counts. Raises UnfitError for none or too many."""
    by_key = {member.key: member for member in members if member.key}
    if not by_key or len(by_key) > MAX_MEMBERS:
        raise UnfitError
    return Object(tuple(by_key.values()), name)


def roots(objects: Iterable[Object]) -> Shapes:
    """Declared objects that are not part of another. The main one has a name like an output, or comes
    last."""
    listed = list(dict.fromkeys(objects))
    held = {inner for one in listed for member in one.members for inner in _objects(member.shape)}
    free = [one for one in listed if one not in held] or listed[-1:]
    if not free:
        raise UnfitError
    spoken = [one for one in free if one.name.lower().endswith(("output", "report", "result", "response"))]
    main = (spoken or free)[-1]
    return Shapes(main, tuple(one for one in free if one != main))


def _objects(shape: Shape) -> Iterable[Object]:
    if isinstance(shape, Object):
        yield shape
        for member in shape.members:
            yield from _objects(member.shape)
    elif isinstance(shape, ListOf):
        yield from _objects(shape.item)
    elif isinstance(shape, MapOf):
        yield from _objects(shape.value)
    elif isinstance(shape, Either):
        for option in shape.options:
            yield from _objects(option)
