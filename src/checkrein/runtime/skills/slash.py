"""Slash commands in prompts."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from msgspec import Struct

from checkrein.runtime.skills.invoker import Invoker

_SLASH = re.compile(r"/(?P<name>[^\s/][^\s]*)(?:\s+(?P<args>.*))?", re.DOTALL)
_COMMAND = re.compile(r"/(?P<name>[A-Za-z][\w:.-]*)(?:\s.*)?", re.DOTALL)
"""A slash and one word: no second slash, as in a path."""
_MAX_STACKED = 6


class Typed(Struct, frozen=True):
    """What a prompt invokes. Stacked skills give several `names`; all get the same text after them."""

    names: tuple[str, ...]
    args: str


def unknown(prompt: str, known: Iterable[str]) -> str | None:
    """Why a prompt that looks like a command is none; None for a path and for other text."""
    match = _COMMAND.fullmatch(prompt.strip())
    if match is None or os.path.exists(f"/{match['name']}"):
        return None
    from checkrein.base.nearest import nearest

    near = nearest(match["name"], known)
    hint = f" Did you mean /{near}?" if near else ""
    return f"There is no command /{match['name']}.{hint} `checkrein show commands` lists them."


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
