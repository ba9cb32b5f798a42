"""The texts of a command that are compared with the patterns of rules."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote

from checkrein.policy.abstract import ANY
from checkrein.policy.patterns import normal
from checkrein.policy.shell.program import Command

_MAX_SKIPPED = 4


def joined(words: Sequence[str]) -> str:
    """The words with a blank between them. A word that may be empty adds no blanks."""
    out = ""
    glue = ""
    for word in words:
        if word == ANY:
            out += ANY
            glue = ""
        else:
            out += glue + word
            glue = " "
    return out


def strict_forms(command: Command) -> tuple[str, ...]:
    """For deny and ask: as expanded, as written, by base name, and without options before the subcommand."""
    words = command.words
    base = words[0].rsplit("/", 1)[-1]
    found = {joined(words): None, normal(command.raw): None}
    if base != words[0]:
        found[joined((base, *words[1:]))] = None
    if "." in base:
        found[joined((f"./{base}", *words[1:]))] = None
    for rest in _subcommands(words[1:]):
        found[joined((base, *rest))] = None
    return tuple(found)


def _subcommands(words: Sequence[str]) -> list[Sequence[str]]:
    """The words from the subcommand on, whether or not an option before it takes a value."""
    found: list[Sequence[str]] = []
    pending = [tuple(words)]
    for _ in range(_MAX_SKIPPED):
        following: list[tuple[str, ...]] = []
        for rest in pending:
            if rest and rest[0].startswith("-") and len(rest) > 1:
                skipped = [rest[1:]] if "=" in rest[0] else [rest[1:], rest[2:]]
                following.extend(one for one in skipped if one)
        found.extend(one for one in following if not one[0].startswith("-"))
        pending = following
        if not pending:
            break
    return found


def granting_forms(command: Command) -> tuple[str, ...]:
    """For allow: as written and as expanded, with quotes around a word that holds blanks."""
    quoted = " ".join(word if _is_plain(word) else quote(word) for word in command.words)
    return tuple(dict.fromkeys((normal(command.raw), quoted)))


def _is_plain(word: str) -> bool:
    return bool(word) and not any(char in word for char in " \t\n;|&<>()'\"\\$`")
