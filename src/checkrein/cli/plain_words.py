"""The plain command lines of `checkrein run`: whole flags that it declares, with their values.

Most runs are such, and importing click costs them a tenth of the time to their first request. Every other
command line, and every wrong one, is click's.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Sequence
from typing import Any

from checkrein.cli import registry
from checkrein.cli.registry import Arg


def read(argv: Sequence[str]) -> tuple[str, dict[str, Any]] | None:
    """The command and its values as click would give them, or None."""
    if argv[:1] != ["run"] or "_CHECKREIN_COMPLETE" in os.environ:
        return None
    args = registry.command("run").args
    by_flag = {flag: arg for arg in args for flag in arg.flags}
    places = [arg for arg in args if not arg.flags]
    values = {arg.name: _default(arg) for arg in args}
    words = deque(argv[1:])
    while words:
        word = words.popleft()
        flag, equals, joined = word.partition("=") if word.startswith("--") else (word, "", "")
        arg = by_flag.get(flag)
        if arg is None:
            if not word or word.startswith("-") or not places:
                return None
            arg, found = places.pop(0), [word]
        elif arg.off is not None or (equals and (arg.type == "bool" or arg.greedy)):
            return None
        else:
            found = [joined] if equals else _given(arg, words)
        read = [_value(arg, one) for one in found]
        if None in read or not read:
            return None
        values[arg.name] = (*values[arg.name], *read) if arg.multiple else read[0]
    return "run", values


def _default(arg: Arg) -> Any:
    if arg.multiple:
        return ()
    return bool(arg.default) if arg.type == "bool" else arg.default


def _given(arg: Arg, words: deque[str]) -> list[str]:
    """The words that belong to a flag; none when click must say what is wrong."""
    if arg.type == "bool":
        return ["yes"]
    found: list[str] = []
    while words and not words[0].startswith("-") and (arg.greedy or not found):
        found.append(words.popleft())
    return [arg.bare] if not found and arg.bare is not None else found


def _value(arg: Arg, word: str) -> Any:
    """The value of a word, or None when click must say what is wrong with it."""
    if arg.type == "bool":
        return True
    if arg.type == "choice" and word not in arg.choices:
        return None
    try:
        return {"int": int, "float": float}.get(arg.type, str)(word)
    except ValueError:
        return None
