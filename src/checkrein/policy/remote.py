"""The tools of MCP servers as rules name them.

A tool is called `mcp__<server>__<tool>`. Characters that services refuse become `_`, and a long name is cut.
A rule may use the name that the model sees, or the names that the server and its entry use.
"""

from __future__ import annotations

import re

from msgspec import Struct

PREFIX = "mcp__"
_STRANGE = re.compile(r"[^A-Za-z0-9_-]")
_STRANGE_IN_PATTERN = re.compile(r"\[[^\]]*\]|[^A-Za-z0-9_*?-]")


class Remote(Struct, frozen=True):
    """A server's tool: the server as its entry names it, the tool as the server does."""

    server: str
    tool: str

    @property
    def written(self) -> str:
        """The name with every character in it."""
        return f"{PREFIX}{self.server}__{self.tool}"

    def names(self, name: str) -> tuple[str, ...]:
        """All names of the tool that the model calls `name`."""
        return tuple(dict.fromkeys((name, normal(self.written), self.written)))


def normal(name: str) -> str:
    """The name with `_` for each character that a tool's name can't have."""
    return _STRANGE.sub("_", name)


def normal_pattern(pattern: str) -> str:
    """The same for a pattern; its wildcards stay."""
    return _STRANGE_IN_PATTERN.sub(lambda found: found[0] if len(found[0]) > 1 else "_", pattern)
