"""Findings about `behavior:` and `agents:`, for the checks of that family."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.dialects.generic.vocabulary import findings
from checkrein.dialects.spec_kit.read import extensions
from checkrein.dialects.spec_kit.read import read as read_extension
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
    yield from sources.skills
    yield from sources.commands
    yield from sources.agents
    for extension in extensions(subject.project.place.root):
        yield from read_extension(extension).commands


def command(fields: str, body: str) -> Files:
    """A small project with one command, for an example."""
    return {".claude/commands/look.md": f"---\ndescription: Look at it.\n{fields}---\n{body}"}
