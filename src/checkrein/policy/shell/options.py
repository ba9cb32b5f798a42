"""Split the words of a command into options and operands."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct


class Options(Struct, frozen=True):
    """`flags` are (name without dashes, value or None) in order; `operands` the rest."""

    flags: tuple[tuple[str, str | None], ...]
    operands: tuple[str, ...]

    def has(self, names: Sequence[str]) -> bool:
        return any(same(flag, name) for flag, _ in self.flags for name in names)

    def values(self, names: Sequence[str]) -> list[str]:
        return [
            value
            for flag, value in self.flags
            if value is not None and any(same(flag, name) for name in names)
        ]


def same(flag: str, name: str) -> bool:
    """Whether a flag as written means the option `name`; long options may be abbreviated."""
    if len(flag) == 1 or len(name) == 1:
        return flag == name
    return name.startswith(flag)


def split_options(words: Sequence[str], short: str, long: Sequence[str]) -> Options:
    """`short` and `long` are the options that take a value."""
    flags: list[tuple[str, str | None]] = []
    operands: list[str] = []
    pending = list(words)[::-1]
    while pending:
        word = pending.pop()
        if word == "--":
            operands.extend(pending[::-1])
            break
        if len(word) < 2 or word[0] != "-":
            operands.append(word)
        elif word.startswith("--"):
            name, given, value = word[2:].partition("=")
            if given:
                flags.append((name, value))
            elif any(option == name or (len(name) > 1 and option.startswith(name)) for option in long):
                flags.append((name, pending.pop() if pending else None))
            else:
                flags.append((name, None))
        else:
            flags.extend(_cluster(word[1:], short, pending))
    return Options(tuple(flags), tuple(operands))


def _cluster(letters: str, short: str, pending: list[str]) -> list[tuple[str, str | None]]:
    """`-rf`, `-n5`, `-n 5`: a letter that takes a value takes the rest of its word, or the next word."""
    found: list[tuple[str, str | None]] = []
    for at, letter in enumerate(letters):
        if letter in short:
            rest = letters[at + 1 :]
            found.append((letter, rest or (pending.pop() if pending else None)))
            break
        found.append((letter, None))
    return found
