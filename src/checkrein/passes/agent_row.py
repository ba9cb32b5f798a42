"""What `show` says about one agent."""

from __future__ import annotations

from msgspec import Struct

from checkrein.base.origin import Origin


class Ignored(Struct, frozen=True):
    """A field, or a part of one, that has no effect, and why."""

    field: str
    why: str
    origin: Origin


class AgentRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One agent, started by the main conversation.

    `tools` are those that it has, all of a server's as `mcp__server__*`. `inherits`: it has every tool of its
    parent but `without`, and those that no subagent has. `unknown` are entries of `tools` that match nothing.
    `denied` are its own deny rules. `starts` are the agents that it may start, None for every one. `model` is
    `inherit` for the parent's. `refused` says why it can't start.
    """

    name: str
    origin: Origin
    tools: tuple[str, ...]
    inherits: bool = False
    without: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    starts: tuple[str, ...] | None = None
    model: str
    mode: str
    ignored: tuple[Ignored, ...] = ()
    refused: str | None = None
