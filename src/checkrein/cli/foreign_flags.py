"""Flags of the product that Checkrein does not have, on the command lines of programs that drive a session.

Such a program can't read a usage error, and a newer SDK must not fail for a flag without which it works just
as well. A flag that is about tools or permissions is never skipped: its author relies on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from checkrein.cli import registry
from checkrein.cli.word_order import is_driven

_NEVER = ("--*tool*", "--permission*", "--*sandbox*", "--dangerously*")


def split(argv: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """The command line without its foreign flags and their values, and the flags. Only for `run` with
    stream-json as its input."""
    if list(argv[:1]) != ["run"] or not is_driven(argv):
        return list(argv), ()
    args = registry.command("run").args
    known = {flag: arg for arg in args for flag in (*arg.flags, arg.off) if flag is not None}
    kept, foreign = ["run"], []
    words = list(argv[1:])
    while words:
        word = words.pop(0)
        flag = word.partition("=")[0]
        if flag in known or not flag.startswith("--") or flag == "--" or _is_vital(flag):
            kept.append(word)
            arg = known.get(flag)
            apart = arg is not None and arg.type != "bool" and not arg.greedy and arg.bare is None
            if apart and words and "=" not in word:
                kept.append(words.pop(0))
            continue
        foreign.append(flag)
        if "=" not in word and words and not words[0].startswith("-"):
            words.pop(0)
    return kept, tuple(foreign)


def _is_vital(flag: str) -> bool:
    return any(fnmatchcase(flag.lower(), pattern) for pattern in _NEVER)
