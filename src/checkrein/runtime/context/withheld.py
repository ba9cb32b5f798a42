"""Files that a Read rule denies: nothing of them enters a request, whichever way it would come."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from msgspec.structs import replace

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.origin import Origin
from checkrein.model.items import Agent, Instruction, Invocable
from checkrein.model.project import Resolved
from checkrein.model.view import View
from checkrein.policy.values import Decision

Denial = Callable[[str], Decision | None]
"""The decision that denies reading a file; None when no rule does."""

Item = TypeVar("Item", bound=Invocable | Agent)


def nobody_denies(path: str) -> Decision | None:
    return None


def withheld(origin: Origin, path: str, decision: Decision) -> Diagnostic:
    """`origin` is the place that would bring the file in."""
    rule = f"{decision.rule} ({decision.origin})" if decision.origin else str(decision.rule)
    return Diagnostic(
        "READ001",
        "warning",
        f"{path} is kept out of every request: {rule} denies reading it",
        origin,
        reason="A rule that denies reading a file holds for every way into the context.",
        hint="Remove the line that brings the file in, or change the rule.",
    )


def shown(view: View, denial: Denial) -> tuple[View, tuple[Diagnostic, ...]]:
    """The view without what no request may hold, and a finding for each thing left out."""
    project = view.project
    log: list[Diagnostic] = []
    instructions = tuple(readable(project.instructions, denial, log))
    skills = _readable_items(project.skills, denial, log)
    commands = _readable_items(project.commands, denial, log)
    agents = _readable_items(project.agents, denial, log)
    if not log:
        return view, ()
    kept = replace(project, instructions=instructions, skills=skills, commands=commands, agents=agents)
    return replace(view, project=kept), tuple(log)


def readable(items: tuple[Instruction, ...], denial: Denial, log: list[Diagnostic]) -> Iterator[Instruction]:
    """The instructions that may be read, without the imports of those that may not. The organisation's own
    instructions always count."""
    left_out: set[str] = set()
    lines = {(one.target, item.name): item.origin.at(one.span) for item in items for one in item.imports}
    for item in items:
        decision = denial(item.name) if item.origin.scope != "managed" else None
        if decision is not None:
            place = lines.get((item.name, item.imported_by or ""), item.origin)
            log.append(withheld(place, item.name, decision))
        if decision is None and item.imported_by not in left_out:
            yield item
        else:
            left_out.add(item.name)


def _readable_items(
    items: Mapping[str, Resolved[Item]], denial: Denial, log: list[Diagnostic]
) -> dict[str, Resolved[Item]]:
    kept = {}
    for name, found in items.items():
        origin = found.item.origin
        decision = denial(origin.file) if origin.scope not in ("managed", "bundled", "cli") else None
        if decision is None:
            kept[name] = found
        else:
            log.append(withheld(origin, origin.file, decision))
    return kept
