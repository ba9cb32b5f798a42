"""Agents that start each other in a circle."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from checkrein.model.view import View
from checkrein.passes.agents.agent_type import AgentType
from checkrein.passes.agents.agent_types import agent_types
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import AGENT, SETTINGS, agent, document
from checkrein.passes.checks.parts import top

_OTHER = ".claude/agents/writer.md"
_MAIN = document({"agent": "tester"})


def run(subject: Subject) -> Iterator[Finding]:
    kinds = {
        name: kind for name, kind in agent_types(View(subject.project), {}).items() if kind.agents is not None
    }
    for circle in _circles(kinds):
        first = kinds[circle[0]].item
        if first is None:
            continue
        path = " → ".join(f"`{name}`" for name in (*circle, circle[0]))
        others = (kinds[name].item for name in circle[1:])
        yield Finding(
            origin=subject.find(first.where("tools"), circle[1 % len(circle)]),
            message=f"Agents may start each other without end: {path}",
            related=tuple(top(item) for item in others if item is not None),
        )


def _circles(kinds: Mapping[str, AgentType]) -> Iterator[tuple[str, ...]]:
    """A shortest circle through each agent, each circle once, from the first of its names on."""
    found: set[frozenset[str]] = set()
    for start in sorted(kinds):
        circle = _back_to(start, kinds)
        if circle and frozenset(circle) not in found:
            found.add(frozenset(circle))
            at = circle.index(min(circle))
            yield circle[at:] + circle[:at]


def _back_to(start: str, kinds: Mapping[str, AgentType]) -> tuple[str, ...]:
    """The names on a shortest way from an agent back to itself; empty when there is none."""
    ways: list[tuple[str, ...]] = [(start,)]
    seen: set[str] = set()
    for way in ways:
        for name in sorted(kinds[way[-1]].agents or ()):
            if name == start:
                return way
            if name in kinds and name not in seen:
                seen.add(name)
                ways.append((*way, name))
    return ()


CHECK = Check(
    code="XP022",
    name="delegation-cycle",
    severity="warning",
    summary="Agents start each other, or one itself, in a circle.",
    why="Each hands the work to the next until the limit of depth ends it. Every round costs a whole "
    "conversation.",
    hint="Let only one of them start the others.",
    bad={AGENT: agent("tools: Read, Agent(tester)"), SETTINGS: _MAIN},
    good={AGENT: agent("tools: Read, Agent(writer)"), _OTHER: agent(name="writer"), SETTINGS: _MAIN},
    run=run,
)
