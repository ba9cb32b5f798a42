"""Where the steps of one body lead: nodes are steps, edges are routes.

A target that is no step of the body (`done`, `escalate`, or a name that nothing has) is the end of a path.
A step that may be skipped has a second node, for a run that leaves it out; only `starts`, `out` and `sources`
name that node.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Literal

from msgspec import Struct

from checkrein.model.recipe import DONE, ESCALATE, Recipe, Step
from checkrein.passes.recipes.routes import following, routes

EdgeKind = Literal["success", "failure", "context_limit", "exhausted", "result", "next", "skip"]
AHEAD: frozenset[EdgeKind] = frozenset(("success", "result", "next", "skip"))
"""The edges of a step that did what it should, or that was skipped."""

_SKIPPED = "\0"


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

    @property
    def starts(self) -> tuple[str, ...]:
        """The nodes where a run begins."""
        return tuple(self._nodes(self.entry)) if self.entry is not None else ()

    @cached_property
    def written(self) -> dict[str, list[Edge]]:
        """The edges of each step, without those of skips."""
        steps = tuple(self.steps.values())
        return {step.name: list(_edges(steps, step)) for step in steps}

    @cached_property
    def out(self) -> dict[str, list[Edge]]:
        """The edges that leave each node."""
        found: dict[str, list[Edge]] = {}
        for name, edges in self.written.items():
            found[name] = [
                Edge(name, node, edge.kind, edge.when, is_written=edge.is_written)
                for edge in edges
                for node in self._nodes(edge.target)
            ]
            if self.steps[name].skip_when_false:
                ahead = (edge.target for edge in edges if edge.kind in AHEAD)
                node = _SKIPPED + name
                found[node] = [
                    Edge(node, one, "skip", around=name) for target in ahead for one in self._nodes(target)
                ]
        return found

    def _nodes(self, name: str) -> Iterator[str]:
        """The nodes of a target: the step, and that of leaving it out."""
        yield name
        step = self.steps.get(name)
        if step is not None and step.skip_when_false:
            yield _SKIPPED + name

    def step_name(self, node: str) -> str:
        """The step of a node, whether the node runs it or leaves it out."""
        return node.removeprefix(_SKIPPED)

    @cached_property
    def sources(self) -> dict[str, list[str]]:
        """The nodes that lead to each node."""
        found: dict[str, list[str]] = {}
        for edges in self.out.values():
            for edge in edges:
                found.setdefault(edge.target, []).append(edge.source)
        return found

    @property
    def is_closed(self) -> bool:
        """Whether every route leads to a step or to an end."""
        targets = (edge.target for edges in self.written.values() for edge in edges)
        return all(target in self.steps or target in (DONE, ESCALATE) for target in targets)

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
            if name not in seen:
                seen.add(name)
                if name not in stop:
                    pending += [edge.target for edge in self.out.get(name, ()) if follow(edge)]
        return _named(seen)

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

    def before(self, *names: str) -> frozenset[str]:
        """The steps that lead to one of these."""
        seen: set[str] = set()
        pending = [source for name in names for source in self.sources.get(name, ())]
        while pending:
            one = pending.pop()
            if one not in seen:
                seen.add(one)
                pending += self.sources.get(one, ())
        return _named(seen)

    @cached_property
    def cycles(self) -> tuple[frozenset[str], ...]:
        """The groups of steps that lead to each other; a skip makes no loop."""
        return tuple(_components(self.written))


def not_around(names: Collection[str]) -> Callable[[Edge], bool]:
    """Follows every edge but those of a run that leaves one of these steps out."""
    return lambda edge: edge.around not in names


def flows(recipe: Recipe) -> Iterator[Flow]:
    """The flow of a recipe, then those of the bodies in it."""
    pending: deque[Flow] = deque([Flow(recipe.steps)])
    while pending:
        flow = pending.popleft()
        yield flow
        for step in flow.steps.values():
            pending += [Flow(branch.steps, step) for branch in step.branches]


def _named(nodes: Iterable[str]) -> frozenset[str]:
    return frozenset(node for node in nodes if not node.startswith(_SKIPPED))


def _edges(steps: Sequence[Step], step: Step) -> Iterator[Edge]:
    for route in routes(steps, step):
        if route.kind != "skip":
            yield Edge(step.name, route.target, route.kind, route.when, is_written=route.is_written)
    if step.kind == "sub_recipe":
        yield Edge(step.name, following(steps, step), "next")


def _components(edges: dict[str, list[Edge]]) -> Iterator[frozenset[str]]:
    """The strongly connected components that hold a cycle (Tarjan, without recursion)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    path: list[str] = []
    waiting: set[str] = set()

    def enter(name: str) -> tuple[str, Iterator[str]]:
        index[name] = low[name] = len(index)
        path.append(name)
        waiting.add(name)
        return name, iter([edge.target for edge in edges[name] if edge.target in edges])

    for root in edges:
        work = [enter(root)] if root not in index else []
        while work:
            name, targets = work[-1]
            target = next(targets, None)
            if target is not None:
                if target not in index:
                    work.append(enter(target))
                elif target in waiting:
                    low[name] = min(low[name], index[target])
                continue
            work.pop()
            if work:
                low[work[-1][0]] = min(low[work[-1][0]], low[name])
            if low[name] == index[name]:
                group = frozenset(path[path.index(name) :])
                del path[-len(group) :]
                waiting -= group
                if len(group) > 1 or any(edge.target == name for edge in edges[name]):
                    yield group
