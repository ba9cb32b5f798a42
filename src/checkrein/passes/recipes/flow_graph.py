"""Where the steps of one body lead: nodes are steps, edges are routes.

A step that may be skipped adds edges around it. A target that is no step of the body (`done`, `escalate`, or
a name that nothing has) is the end of a path.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Literal

from msgspec import Struct

from checkrein.model.recipe import Recipe, Step
from checkrein.passes.recipes.routes import following, routes

EdgeKind = Literal["success", "failure", "context_limit", "exhausted", "result", "next", "skip"]
AHEAD: frozenset[EdgeKind] = frozenset(("success", "result", "next", "skip"))
"""The edges of a step that did what it should, or that was skipped."""


class Edge(Struct, frozen=True):
    """`when` is the condition of an arm of `on_result`. `around` is the step that a skip leaves out. A route
    that the file does not have, and the engine takes, is not `is_written`."""

    source: str
    target: str
    kind: EdgeKind
    when: str | None = None
    around: str | None = None
    is_written: bool = True


class Flow:
    """The graph of a recipe's steps, or of a body of a `foreach` or `parallel` step, its `owner`."""

    def __init__(self, steps: Iterable[Step], owner: Step | None = None) -> None:
        self.owner = owner
        self.steps: dict[str, Step] = {}
        for step in steps:
            self.steps.setdefault(step.name, step)

    @property
    def entry(self) -> str | None:
        return next(iter(self.steps), None)

    @cached_property
    def starts(self) -> tuple[str, ...]:
        """The entry, and where a run begins when the entry is skipped."""
        found: list[str] = []
        pending = [self.entry] if self.entry else []
        while pending:
            name = pending.pop()
            if name not in found:
                found.append(name)
                step = self.steps.get(name)
                if step is not None and step.skip_when_false:
                    pending += [edge.target for edge in self._written[name] if edge.kind in AHEAD]
        return tuple(found)

    @cached_property
    def edges(self) -> tuple[Edge, ...]:
        written = [edge for edges in self._written.values() for edge in edges]
        return (*written, *self._around(written))

    @cached_property
    def _written(self) -> dict[str, list[Edge]]:
        steps = tuple(self.steps.values())
        return {step.name: list(_edges(steps, step)) for step in steps}

    def _around(self, written: list[Edge]) -> Iterator[Edge]:
        """Edges from before a step that may be skipped to what comes after it, over several in a row too."""
        seen = {(edge.source, edge.target) for edge in written}
        pending = deque(written)
        while pending:
            edge = pending.popleft()
            step = self.steps.get(edge.target)
            if step is None or not step.skip_when_false:
                continue
            for ahead in self._written[edge.target]:
                pair = (edge.source, ahead.target)
                if ahead.kind in AHEAD and pair not in seen:
                    seen.add(pair)
                    skipped = Edge(edge.source, ahead.target, "skip", edge.when, edge.target)
                    pending.append(skipped)
                    yield skipped

    @cached_property
    def out(self) -> dict[str, list[Edge]]:
        found: dict[str, list[Edge]] = {name: [] for name in self.steps}
        for edge in self.edges:
            found[edge.source].append(edge)
        return found

    @cached_property
    def into(self) -> dict[str, list[Edge]]:
        found: dict[str, list[Edge]] = {}
        for edge in self.edges:
            found.setdefault(edge.target, []).append(edge)
        return found

    def reach(
        self,
        sources: Iterable[str],
        *,
        stop: Collection[str] = (),
        follow: Callable[[Edge], bool] = lambda _: True,
    ) -> frozenset[str]:
        """The sources and all that they lead to, ends included. A step in `stop` is reached but not left."""
        seen: set[str] = set()
        pending = list(sources)
        while pending:
            name = pending.pop()
            if name in seen:
                continue
            seen.add(name)
            if name not in stop:
                pending += [edge.target for edge in self.out.get(name, ()) if follow(edge)]
        return frozenset(seen)

    def after(
        self,
        name: str,
        *,
        stop: Collection[str] = (),
        first: Collection[EdgeKind] | None = None,
        follow: Callable[[Edge], bool] = lambda _: True,
    ) -> frozenset[str]:
        """What a step leads to; itself only if it leads back. `first` narrows its own edges."""
        own = (edge for edge in self.out.get(name, ()) if first is None or edge.kind in first)
        return self.reach((edge.target for edge in own if follow(edge)), stop=stop, follow=follow)

    def before(self, name: str) -> frozenset[str]:
        """The steps that lead to a step."""
        seen: set[str] = set()
        pending = [edge.source for edge in self.into.get(name, ())]
        while pending:
            one = pending.pop()
            if one not in seen:
                seen.add(one)
                pending += [edge.source for edge in self.into.get(one, ())]
        return frozenset(seen)

    @cached_property
    def cycles(self) -> tuple[frozenset[str], ...]:
        """The groups of steps that lead to each other, over written edges."""
        return tuple(_components(self._written, self.steps))


def not_around(names: Collection[str]) -> Callable[[Edge], bool]:
    """Follows every edge but those that leave one of these steps out."""
    return lambda edge: edge.around not in names


def flows(recipe: Recipe) -> Iterator[Flow]:
    """The flow of a recipe, then those of the bodies in it."""
    pending: deque[Flow] = deque([Flow(recipe.steps)])
    while pending:
        flow = pending.popleft()
        yield flow
        for step in flow.steps.values():
            pending += [Flow(branch.steps, step) for branch in step.branches]


def _edges(steps: Sequence[Step], step: Step) -> Iterator[Edge]:
    for route in routes(steps, step):
        if route.kind != "skip":
            yield Edge(step.name, route.target, route.kind, route.when, is_written=route.is_written)
    if step.kind == "sub_recipe":
        yield Edge(step.name, following(steps, step), "next")


def _components(edges: dict[str, list[Edge]], steps: Collection[str]) -> Iterator[frozenset[str]]:
    """The strongly connected components that hold a cycle (Tarjan, without recursion)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    open_: list[str] = []
    for root in steps:
        work = [(root, iter([root]))] if root not in index else []
        while work:
            name, targets = work[-1]
            if name not in index:
                index[name] = low[name] = len(index)
                open_.append(name)
                targets = iter([edge.target for edge in edges[name] if edge.target in steps])
                work[-1] = (name, targets)
            target = next(targets, None)
            if target is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[name])
                if low[name] == index[name]:
                    at = open_.index(name)
                    group = frozenset(open_[at:])
                    del open_[at:]
                    if len(group) > 1 or any(edge.target == name for edge in edges[name]):
                        yield group
            elif target not in index:
                work.append((target, iter(())))
            elif target in open_:
                low[name] = min(low[name], index[target])
