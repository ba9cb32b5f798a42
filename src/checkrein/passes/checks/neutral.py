"""Findings about `behavior:` and `agents:`, for the checks of that family."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from checkrein.base.nearest import nearest
from checkrein.dialects.generic.vocabulary import findings
from checkrein.dialects.spec_kit.read import extensions
from checkrein.dialects.spec_kit.read import read as read_extension
from checkrein.facts.agents import target_names
from checkrein.facts.behavior import VOCABULARY
from checkrein.model.items import Agent, Invocable
from checkrein.passes.checks.check import Files, Finding, Subject

_LIMITED = "BEH015"


def found(subject: Subject, code: str) -> Iterator[Finding]:
    """The findings with this code, over everything that may hold the vocabulary."""
    for item in _items(subject):
        if code == _LIMITED and item.behavior.get("execution") == "agent":
            origin = item.where("behavior.execution")
            message = "only Claude Code and Copilot take `execution: agent`"
            yield Finding(origin=origin, message=message)
        for one in findings(item):
            if one.code == code:
                yield Finding(
                    origin=one.origin,
                    message=one.message[:1].upper() + one.message[1:],
                    hint=one.hint,
                    related=one.related,
                )


def _items(subject: Subject) -> Iterator[Invocable | Agent]:
    sources = subject.project.sources
    written: tuple[Invocable | Agent, ...] = (*sources.skills, *sources.commands, *sources.agents)
    yield from (item for item in written if _speaks_it(item))
    for extension in extensions(subject.project.place.root):
        yield from read_extension(extension).commands


def _speaks_it(item: Invocable | Agent) -> bool:
    """Whether `behavior:` or `agents:` are ours. Others use these names for lists of their own: some word in
    them must be one of the vocabulary, or nearly."""
    written = (item.behavior, item.agents, item.unknown.get("behavior"), item.unknown.get("agents"))
    words = [str(word) for held in written for word in _words(held)]
    return any(nearest(word, _vocabulary(), 0.8) for word in words)


def _words(held: object) -> Iterator[object]:
    if isinstance(held, str):
        yield held
    elif isinstance(held, list | dict):
        yield from held


@cache
def _vocabulary() -> tuple[str, ...]:
    values = (value for words in VOCABULARY.values() for value in words.values)
    return (*VOCABULARY, *values, *target_names())


def command(fields: str, body: str) -> Files:
    """A small project with one command, for an example."""
    return {".claude/commands/look.md": f"---\ndescription: Look at it.\n{fields}---\n{body}"}
