"""What all paths to a step have met, and what some path from it will meet, for many names at once.

Names are bits of a number, so that a recipe of thousands of steps takes no longer than a look at each.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping

from checkrein.passes.recipes.flow_graph import AHEAD, Flow


class Names:
    """Sets of names as numbers. Names that are not numbered yet have no bit."""

    def __init__(self, names: Iterable[str]) -> None:
        self._bits = {name: 1 << at for at, name in enumerate(dict.fromkeys(names))}

    def bits(self, names: Iterable[str]) -> int:
        found = 0
        for name in names:
            found |= self._bits.get(name, 0)
        return found


def met_before(flow: Flow, own: Mapping[str, int]) -> dict[str, int]:
    """For each step that a run reaches: what every path to it has met. `own` is what each step adds; a run
    that leaves a step out counts as if it had met it."""
    known = dict.fromkeys(flow.starts, 0)
    pending = deque(known)
    while pending:
        node = pending.popleft()
        leaving = known[node] | own.get(flow.step_name(node), 0)
        for edge in flow.out.get(node, ()):
            before = known.get(edge.target)
            after = leaving if before is None else before & leaving
            if after != before:
                known[edge.target] = after
                pending.append(edge.target)
    return known


def met_after(flow: Flow, own: Mapping[str, int]) -> dict[str, int]:
    """For each node: what some path behind it meets."""
    found = dict.fromkeys(flow.out, 0)
    pending = deque(reversed(flow.out))
    queued = set(pending)
    while pending:
        node = pending.popleft()
        queued.discard(node)
        total = found[node]
        for edge in flow.out[node]:
            total |= own.get(edge.target, 0) | found.get(edge.target, 0)
        if total != found[node]:
            found[node] = total
            fresh = [source for source in flow.sources.get(node, ()) if source not in queued]
            pending += fresh
            queued.update(fresh)
    return found


def met_ahead(flow: Flow, name: str, own: Mapping[str, int], later: Mapping[str, int]) -> int:
    """What is met behind a step that did what it should; `later` is `met_after` of the same `own`."""
    found = 0
    for edge in flow.out[name]:
        if edge.kind in AHEAD:
            found |= own.get(edge.target, 0) | later.get(edge.target, 0)
    return found
