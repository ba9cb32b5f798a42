"""Every dialect by name. A lookup imports that dialect's reader and no other."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from checkrein.dialects.dialect import Dialect, Reader, Writer
from checkrein.facts.agents import Files, Target, find_target, targets

if TYPE_CHECKING:
    from checkrein.dialects.generic.written import Options, Written
    from checkrein.model.project import Sources

AGENTS_MD = "agents_md"

_READERS = {
    "claude": "checkrein.dialects.claude.tree",
    "copilot": "checkrein.dialects.copilot.read",
    "codex": "checkrein.dialects.codex.read",
    "gemini": "checkrein.dialects.gemini.read",
    "opencode": "checkrein.dialects.opencode.read",
    "cursor": "checkrein.dialects.cursor.read",
}
_WRITERS = {"claude": "checkrein.dialects.claude.write"}
"""Agents with more output than their row can express. The row drives the writer of every other agent."""


@cache
def find(name: str) -> Dialect | None:
    """The dialect with this name, or with this key or alias of an agent."""
    if name == AGENTS_MD:
        read: Reader = import_module("checkrein.dialects.agents_md.read").read
        return Dialect(name=name, label="AGENTS.md", files=Files(instruction=("AGENTS.md",)), read=read)
    row = find_target(name) or next((row for row in targets().values() if row.dialect == name), None)
    if row is None:
        return None
    known = _dialect_name(row)
    return Dialect(
        name=known,
        label=row.label,
        files=row.files,
        read=None if known not in _READERS else import_module(_READERS[known]).read,
        write=_late(f"{_WRITERS[known]}:write") if known in _WRITERS else _by_row(row),
    )


def _dialect_name(row: Target) -> str:
    return row.key if row.dialect == "generic" else row.dialect


def readable() -> tuple[str, ...]:
    """Names of the agent dialects with a reader."""
    return tuple(_READERS)


def _late(place: str) -> Writer:
    """A writer that is imported at its first call: most users of a dialect only read."""
    module, _, name = place.partition(":")

    def write(sources: Sources, options: Options) -> Written:
        made: Callable[..., Any] = getattr(import_module(module), name)
        written: Written = made(sources, options)
        return written

    return write


def _by_row(row: Target) -> Writer:
    def write(sources: Sources, options: Options) -> Written:
        from checkrein.dialects.generic.write import write_for

        return write_for(row.key, sources, options)

    return write
