"""Turns declarations that name each other into separate trees."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from checkrein.compile.shapes.tree import (
    ANY,
    MAX_DEPTH,
    Both,
    Either,
    ListOf,
    MapOf,
    Member,
    Object,
    Ref,
    Shape,
    UnfitError,
    either,
    merged,
)

MAX_NODES = 3000


class Resolver:
    """Resolves types; one that is not declared or contains itself may be anything. Raises UnfitError past
    MAX_NODES."""

    def __init__(self, declared: Mapping[str, Shape]) -> None:
        self.declared = declared
        self.open: list[str] = []
        self.bases: set[str] = set()
        self.left = MAX_NODES

    def objects(self) -> list[Object]:
        """The declared objects, without those that others only extend."""
        found = {name: self.shape(Ref(name)) for name in self.declared}
        return [one for name, one in found.items() if isinstance(one, Object) and name not in self.bases]

    def shape(self, shape: Shape) -> Shape:
        self.left -= 1
        if self.left < 0:
            raise UnfitError
        if isinstance(shape, Ref):
            return self._named(shape)
        if isinstance(shape, Both):
            return self._together(shape)
        if isinstance(shape, ListOf):
            return ListOf(self.shape(shape.item))
        if isinstance(shape, MapOf):
            return MapOf(self.shape(shape.value))
        if isinstance(shape, Either):
            return either(self.shape(one) for one in shape.options)
        if isinstance(shape, Object):
            return Object(tuple(self._members(shape.members)), shape.name)
        return shape

    def _members(self, members: Iterable[Member]) -> Iterable[Member]:
        for member in members:
            yield Member(member.key, self.shape(member.shape), member.required)

    def _named(self, reference: Ref) -> Shape:
        name = reference.target
        if name not in self.declared or name in self.open or len(self.open) > MAX_DEPTH:
            return ANY
        self.open.append(name)
        try:
            found = self.shape(self.declared[name])
        finally:
            self.open.pop()
        if not reference.partial or not isinstance(found, Object):
            return found
        return Object(tuple(Member(one.key, one.shape, False) for one in found.members))

    def _together(self, both: Both) -> Shape:
        members: list[Member] = []
        for part in both.parts:
            found = self.shape(part)
            if isinstance(part, Ref):
                self.bases.add(part.target)
            if isinstance(found, Object):
                members += found.members
            elif found != ANY:
                raise UnfitError
        return merged(members, both.name)
