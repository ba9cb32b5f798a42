"""Whether a command only reads or prints, by built-in knowledge."""

from __future__ import annotations

import re
from collections.abc import Sequence

from checkrein.facts.shell_readonly import (
    DOCKER,
    DOCKER_UNSAFE,
    FIND_SAFE,
    FIND_STARTS,
    FIND_VALUES,
    GIT_READERS,
    HELD_READERS,
    HELD_VERSIONS,
    JQ_UNSAFE,
    READ_ONLY,
    SELECTORS,
    VERSIONS,
    ReadOnly,
)
from checkrein.policy.abstract import ANY, ONE, STAR, is_glob, is_static
from checkrein.policy.shell.git import only_reads as git_only_reads
from checkrein.policy.shell.options import split_options
from checkrein.policy.shell.program import Command


def is_read_only(command: Command, home: str) -> bool:
    """Whether the command, its options and its operands all certainly change nothing."""
    words = command.words
    name = words[0]
    if words in VERSIONS:
        return True
    if name == "git":
        return not command.moved and git_only_reads(words[1:], command.cwds, home)
    if name == "docker":
        return _docker(words[1:])
    if name in SELECTORS:
        return _awk(command)
    if name == "find" and command.inner:
        own = _without_starts(words[1:])
        return (
            all(is_static(word) for word in own)
            and _find(own)
            and all(_reads_found(one, home) for one in command.inner)
        )
    fact = READ_ONLY.get(name)
    if fact is None or not _words_known(command, fact):
        return False
    special = _SPECIAL.get(name)
    if not _options_safe(fact, words[1:]):
        return False
    return special is None or special(words[1:])


def _awk(command: Command) -> bool:
    """`awk -F: '{print $1}' FILE`: the program is written out and only selects; the rest are files."""
    from checkrein.policy.shell.code.awk import selects

    if command.unknown_words:
        return False
    options = split_options(command.words[1:], "Fv", ())
    if not all(flag in ("F", "v") and value and is_static(value) for flag, value in options.flags):
        return False
    code, *files = options.operands or ("",)
    return (
        is_static(code)
        and not any(ANY in file or file.startswith(("-", STAR, ONE)) for file in files)
        and selects(code)
    )


def _reads_found(command: Command, home: str) -> bool:
    """`find -name '*.py' -exec grep x {} +`: the reader gets the names that find selects, as they are."""
    return command.found is not None and not command.inner and is_read_only(command, home)


def can_be_held(command: Command) -> bool:
    """Whether a command of unknown words, or one that may do more, only reads when it can write nothing,
    reach nobody and start nothing else. A command that is known to do more is not among them."""
    words = command.words
    name = command.name
    if name in HELD_READERS or words in HELD_VERSIONS or words in VERSIONS:
        return True
    if name == "find" and not FIND_STARTS.isdisjoint(words):
        return _find(_without_starts(words[1:]))
    if not (command.unknown_words or any(ANY in word for word in words[1:])):
        return name in READ_ONLY and command.inner == () and is_read_only(command, "")
    return name in READ_ONLY or name == "xargs" or (name == "git" and words[1] in GIT_READERS)


def _without_starts(words: Sequence[str]) -> list[str]:
    """The words of find without the commands that it starts, which are judged themselves."""
    kept: list[str] = []
    inside = False
    for word in words:
        if word in FIND_STARTS:
            inside = True
        elif not inside:
            kept.append(word)
        elif word in (";", "+"):
            inside = False
    return kept


def _words_known(command: Command, fact: ReadOnly) -> bool:
    if fact.inert:
        return True
    if command.found is not None and command.name not in _SPECIAL:
        return all(is_static(word) or word == ANY for word in command.words)
    if any(ANY in word for word in command.words) or command.unknown_words:
        return False
    return fact.globs or not any(is_glob(word) for word in command.words)


def _options_safe(fact: ReadOnly, words: Sequence[str]) -> bool:
    options = split_options(words, fact.values, fact.long_values)
    if options.flags if not fact.options else fact.needs_option and not options.flags:
        return False
    for flag, _ in options.flags:
        if fact.only is not None and flag not in fact.only:
            return False
        if len(flag) == 1 and flag in fact.unsafe:
            return False
        if len(flag) > 1 and any(name.startswith(flag) for name in fact.unsafe_long):
            return False
    if fact.operands == "none":
        return not options.operands
    if fact.operands == "one":
        return len(options.operands) <= 1
    if fact.operands == "plus":
        return all(word.startswith("+") for word in options.operands)
    if fact.operands == "words":
        return all(re.fullmatch(r"[\w.+-]+", word) for word in options.operands)
    return True


def _find(words: Sequence[str]) -> bool:
    """Only words that read; a value after one of them may be anything."""
    at = 0
    while at < len(words):
        word = words[at]
        if word.startswith("-") or word in ("(", ")", "!", ","):
            if word not in FIND_SAFE and not re.fullmatch(r"-O\d", word):
                return False
            at += 1 if word in FIND_VALUES else 0
        at += 1
    return True


def _sed(words: Sequence[str]) -> bool:
    from checkrein.policy.shell.sed import read_sed

    return read_sed(words).only_reads


def _jq(words: Sequence[str]) -> bool:
    return not any(re.search(JQ_UNSAFE, word) for word in words)


def _ps(words: Sequence[str]) -> bool:
    """`ps e` shows the environment of every process."""
    return not any("e" in word for word in words if not word.startswith("-")) and not any(
        re.fullmatch(r"-\w*E\w*", word) for word in words
    )


def _lsof(words: Sequence[str]) -> bool:
    """For a port or an address, not for all of them."""
    return not any(word.startswith("-") and word.endswith("i") for word in words[-1:])


_SPECIAL = {"find": _find, "sed": _sed, "jq": _jq, "ps": _ps, "lsof": _lsof}


def _docker(words: Sequence[str]) -> bool:
    if not words or words[0] not in DOCKER or not all(is_static(word) for word in words):
        return False
    return not any(
        word == option or word.startswith(f"{option}=") for word in words for option in DOCKER_UNSAFE
    )
