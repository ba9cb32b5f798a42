"""The texts of a command that are compared with the patterns of rules."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote

from checkrein.facts.shell_programs import SUBCOMMANDS
from checkrein.policy.abstract import ANY, is_static
from checkrein.policy.patterns import normal
from checkrein.policy.shell.program import Command

_MAX_FORMS = 40


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
    if base.startswith("git-"):
        found[joined(("git", base[4:], *words[1:]))] = None
    for rest in (*_subcommands(words[1:]), *_other_names(base, words[1:])):
        found[joined((base, *rest))] = None
    return tuple(found)


def _other_names(base: str, words: Sequence[str]) -> list[Sequence[str]]:
    """The words with the subcommand under its other name, and without options."""
    names = SUBCOMMANDS.get(base)
    if names is None:
        return []
    given = (tuple(words), *_subcommands(words))
    plain = [tuple(word for word in one if not word.startswith("-")) for one in given]
    return [*plain, *((names[one[0]], *one[1:]) for one in (*given, *plain) if one and one[0] in names)]


def _subcommands(words: Sequence[str]) -> list[Sequence[str]]:
    """The words from the subcommand on, whether or not an option before it takes a value."""
    found: list[Sequence[str]] = []
    reached = {0}
    for at, word in enumerate(words):
        if at not in reached:
            continue
        if word.startswith("-"):
            reached |= {at + 1} if "=" in word else {at + 1, at + 2}
        elif at:
            found.append(words[at:])
            if len(found) == _MAX_FORMS:
                break
    return found


def granting_forms(command: Command) -> tuple[str, ...]:
    """For allow: as written and as expanded, with quotes around a word that holds blanks."""
    quoted = " ".join(word if _is_plain(word) else quote(word) for word in command.words)
    return tuple(dict.fromkeys((normal(command.raw), quoted)))


def _is_plain(word: str) -> bool:
    return bool(word) and not any(char in word for char in " \t\n;|&<>()'\"\\$`")


def plain_git_forms(command: Command) -> tuple[str, ...]:
    """`git -C dir log` as `git log`, when only harmless options come before the subcommand."""
    from checkrein.facts.shell_git import GLOBAL_HARMLESS

    words = command.words
    if words[0] != "git" or not all(is_static(word) for word in words):
        return ()
    at = 1
    while at < len(words) and words[at].startswith("-"):
        if words[at] not in GLOBAL_HARMLESS and words[at] != "-C":
            return ()
        at += 2 if words[at] == "-C" else 1
    return (" ".join(("git", *words[at:])),) if 1 < at < len(words) else ()
