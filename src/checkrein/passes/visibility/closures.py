"""The skills that a worker gets with its own: the closure of `activate_deps`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from checkrein.model.items import Invocable


def closure(target: str, items: Mapping[str, Invocable]) -> frozenset[str]:
    """The skill itself and all that it reaches. Follows each skill once, so a cycle ends."""
    reached: set[str] = set()
    pending = [target] if target in items else []
    while pending:
        name = pending.pop()
        if name not in reached:
            reached.add(name)
            pending += (one for wanted in items[name].activate_deps for one in members_of(wanted, items))
    return frozenset(reached)


def members_of(dependency: str, items: Mapping[str, Invocable]) -> Iterator[str]:
    """The skill of this name; without one, all skills of the category. None for an unknown name."""
    if dependency in items:
        yield dependency
    else:
        yield from (name for name, item in items.items() if dependency in item.categories)
