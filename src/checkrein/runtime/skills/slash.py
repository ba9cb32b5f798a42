"""Slash commands in prompts."""

from __future__ import annotations

import re

from msgspec import Struct

from checkrein.runtime.skills.invoker import Invoker

_SLASH = re.compile(r"/(?P<name>[^\s/][^\s]*)(?:\s+(?P<args>.*))?", re.DOTALL)
_MAX_STACKED = 6


class Typed(Struct, frozen=True):
    """What a prompt invokes. Stacked skills give several `names`; all get the same text after them."""

    names: tuple[str, ...]
    args: str


def parse(prompt: str, invoker: Invoker) -> Typed | None:
    """The commands that a prompt begins with; None when it is plain text (a path, or an unknown name).

    Up to five more commands that the user may type can follow the first one. A forked one or any other word
    ends the row, and belongs to the text that all of them get."""
    names: list[str] = []
    rest = prompt.strip()
    while len(names) < _MAX_STACKED:
        match = _SLASH.fullmatch(rest)
        item = invoker.find(match["name"]) if match is not None else None
        if match is None or item is None:
            break
        if names and (item.context == "fork" or not item.user_invocable or item.name in names):
            break
        names.append(item.name)
        rest = (match["args"] or "").strip()
        if item.context == "fork":
            break
    return Typed(tuple(names), rest) if names else None
