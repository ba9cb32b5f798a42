"""The order of words on a command line: options may stand before the verb or after it.

A command line without a verb is a run only when it says so: with `-p`, with a prompt of several words, or
with options alone, as scripts for Claude Code write it. One word that is not a command is a typing error,
which no model should get. A program that drives a session names no verb, and its flags may be newer than
we are: what follows one is its value.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from checkrein.base.errors import UsageError
from checkrein.cli import registry

_HELP = ("-h", "--help")
_FIRST = (*_HELP, "-V", "--version", "run", "machine")
"""Words after which the order is right."""
_PRINT = ("-p", "--print")
_OTHER_WORDS = {"help": "--help", "version": "--version"}


def ordered(argv: Sequence[str]) -> list[str]:
    """The words with the verb first. Raises UsageError for a lone word that is not a command."""
    words = list(argv)
    if not words or words[0] in _FIRST:
        return words
    if words[0] in _OTHER_WORDS:
        return [*words[1:], _OTHER_WORDS[words[0]]]
    if words[0].startswith("-") and (_prints(words) or is_driven(words)):
        return _run(words)
    options: list[str] = []
    verb: list[str] = []
    rest = words
    while not _is_whole(verb):
        count = _options(rest)
        following = [*verb, *rest[count : count + 1]]
        if count == len(rest) or not _is_known(following):
            break
        options, verb, rest = [*options, *rest[:count]], following, rest[count + 1 :]
    if verb:
        named = " ".join(verb)
        if named in registry.DEFAULTS and not any(word in _HELP for word in rest):
            _refuse_typo(named, rest[_options(rest) :])
            verb.append(registry.DEFAULTS[named])
        return [*verb, *options, *rest]
    return _run(words) if words[0].startswith("-") else words


def not_a_command(word: str) -> UsageError:
    from shlex import quote

    from checkrein.base.nearest import did_you_mean

    return UsageError(
        f"There is no command {word!r}.{did_you_mean(word, heads())}",
        kind="unknown_command",
        hint=f"`checkrein --help` lists the commands. To ask a model: checkrein -p {quote(word)}",
    )


def _refuse_typo(group: str, rest: list[str]) -> None:
    """What stands where a verb could stand is one, or a path: one that exists, or that can't be a verb."""
    import os

    if not rest or rest[0] == "--" or os.sep in rest[0] or os.path.exists(rest[0]):
        return
    from checkrein.base.nearest import did_you_mean

    verbs = [name.partition(" ")[2] for name in registry.MODULES if name.startswith(f"{group} ")]
    raise UsageError(
        f"There is no command {f'{group} {rest[0]}'!r}.{did_you_mean(rest[0], verbs)}",
        kind="unknown_command",
        hint=f"`checkrein {group}` takes {', '.join(verbs)}, or a directory.",
    )


def heads() -> list[str]:
    """The first words of all commands."""
    return list(dict.fromkeys(name.partition(" ")[0] for name in registry.MODULES))


def _run(words: list[str]) -> list[str]:
    count = _options(words)
    rest = words[count:]
    if (
        _are_known(words[:count])
        and rest
        and rest[0] != "--"
        and len(rest[0].split()) == 1
        and not _prints(words)
        and not is_driven(words)
    ):
        raise not_a_command(rest[0])
    # click looks for a long option `-p` first, and imports difflib when there is none
    return ["run", "--print" if words[0] == "-p" else words[0], *words[1:]]


def _prints(words: list[str]) -> bool:
    before = words[: words.index("--")] if "--" in words else words
    return any(word in _PRINT for word in before)


def is_driven(words: Sequence[str]) -> bool:
    """Whether a program writes the prompts as stream-json."""
    return "--input-format=stream-json" in words or any(
        first == "--input-format" and second == "stream-json" for first, second in pairwise(words)
    )


def _is_whole(verb: list[str]) -> bool:
    return " ".join(verb) in registry.MODULES or verb == ["machine"]


def _is_known(verb: list[str]) -> bool:
    name = " ".join(verb)
    return name in registry.MODULES or any(one.startswith(f"{name} ") for one in registry.MODULES)


def _are_known(options: list[str]) -> bool:
    """Whether a run has these options; else the parser names the one that it does not have."""
    flags = _flags()
    return all(word.partition("=")[0] in flags for word in options if word.startswith("--"))


def _flags() -> dict[str, registry.Arg]:
    from checkrein.cli.run_args import RUN_ARGS

    return {flag: arg for arg in RUN_ARGS for flag in arg.flags}


def _options(words: list[str]) -> int:
    """How many words from the first on are options and their values."""
    if not words or not words[0].startswith("-"):
        return 0
    by_flag = _flags()
    index = 0
    while index < len(words) and words[index].startswith("-") and words[index] not in ("-", "--"):
        arg = by_flag.get(words[index])
        index += 1
        if arg is None or arg.type == "bool":
            continue
        while index < len(words) and not words[index].startswith("-"):
            index += 1
            if not arg.greedy:
                break
    return index
