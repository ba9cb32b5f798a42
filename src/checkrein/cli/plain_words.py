"""The plain command lines of `checkrein run`: whole flags that it declares, each with one value.

Most runs are such, and importing click costs them a tenth of the time to their first request. Every other
command line, and every wrong one, is click's.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
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
    words = iter(argv[1:])
    for word in words:
        arg = by_flag.get(word)
        if arg is None:
            if not _is_value(word) or not places:
                return None
            arg, words = places.pop(0), _again(word, words)
        if arg.multiple or arg.bare is not None or arg.off is not None:
            return None
        value = True if arg.type == "bool" else _value(arg, next(words, ""))
        if value is None:
            return None
        values[arg.name] = value
    return "run", values


def _default(arg: Arg) -> Any:
    if arg.multiple:
        return ()
    return bool(arg.default) if arg.type == "bool" else arg.default


def _again(word: str, words: Iterator[str]) -> Iterator[str]:
    yield word
    yield from words


def _is_value(word: str) -> bool:
    return bool(word) and not word.startswith("-")


def _value(arg: Arg, word: str) -> Any:
    """The value of a word, or None when click must say what is wrong with it."""
    if not _is_value(word) or (arg.type == "choice" and word not in arg.choices):
        return None
    try:
        return {"int": int, "float": float}.get(arg.type, str)(word)
    except ValueError:
        return None
