"""What git runs: aliases, settings and options that hold commands, programs named `git-...`."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from checkrein.facts import git_words, shell_git
from checkrein.policy.abstract import ANY, is_static
from checkrein.policy.shell.invocation import UNKNOWN_CODE, Found, Running, parameters
from checkrein.policy.shell.nested import option_commands, split_git
from checkrein.policy.shell.program import Command, Word

_OTHER = "other code may run in its place"


def git(running: Running) -> Found:
    """Settings on the command line that hold commands, and the other ways git runs one."""
    settings, rest = split_git(running.texts[1:])
    found = option_commands(running, rest)
    inner = list(found.inner)
    unknown, opaque = found.unknown, found.opaque
    aliased = False
    for key, value in settings:
        if key is None:
            unknown = UNKNOWN_CODE
            continue
        aliased = aliased or (rest[:1] != () and key.lower() == f"alias.{rest[0].lower()}")
        commands, doubt = _set(running, key, value, rest[1:] if aliased else None)
        inner.extend(commands)
        opaque = opaque or doubt
        unknown = UNKNOWN_CODE if commands and ANY in value else unknown
    if rest and not aliased:
        commands, doubt = _subcommand(running, rest)
        inner.extend(commands)
        opaque = opaque or doubt
    for text in rest:
        if text.startswith("ext::"):
            inner.extend(running.sh(text[5:]))
            opaque = opaque or _OTHER
    if any(_names_code(text) for text in running.texts[1:]):
        opaque = _OTHER
    return Found(inner=tuple(inner), unknown=unknown, opaque=opaque)


def _names_code(text: str) -> bool:
    """`--exec-path=DIR`, `--template DIR`: options that name a place with code."""
    name = text.partition("=")[0]
    return text.startswith(shell_git.CODE_OPTIONS) or (len(name) > 5 and "--template".startswith(name))


def _subcommand(running: Running, rest: tuple[str, ...]) -> tuple[tuple[Command, ...], str | None]:
    name = rest[0]
    if name == "config":
        return _config(running, rest[1:])
    if name == "subtree" and "push" in rest:
        return running.argv((Word("git"), Word("push"), *(Word(text) for text in rest[1:]))), None
    if name not in git_words.SUBCOMMANDS and not name.startswith("-"):
        return (), "an alias or another program may run"
    return (), None


def _config(running: Running, words: Sequence[str]) -> tuple[tuple[Command, ...], str | None]:
    """`git config KEY VALUE`."""
    operands: list[str] = []
    at = 0
    while at < len(words):
        if words[at].startswith("-"):
            at += 2 if words[at] in git_words.CONFIG_VALUES else 1
            continue
        operands.append(words[at])
        at += 1
    if not git_words.CONFIG_READS.isdisjoint(
        (*operands[:1], *(word for word in words if word.startswith("-")))
    ):
        return (), None
    if any("rename-section" in word for word in words):
        return (), _OTHER
    if operands[:1] and operands[0] in git_words.CONFIG_VERBS:
        operands = operands[1:]
    if len(operands) < 2:
        return (), None
    commands, doubt = _set(running, operands[0], operands[1], None)
    return commands, doubt or (None if is_static(operands[1]) or not commands else UNKNOWN_CODE)


def _set(
    running: Running, key: str, value: str, arguments: Sequence[str] | None
) -> tuple[tuple[Command, ...], str | None]:
    """What a setting runs, and why that is not all known. `arguments`: those of the alias that it is."""
    name = key.lower()
    if name.startswith("alias."):
        return _alias(running, value, arguments), None if is_static(value) else UNKNOWN_CODE
    if not is_static(name) or name.startswith(shell_git.CODE_SETTINGS) or "ext::" in name:
        return (), None if value in ("", "/dev/null") and is_static(
            name
        ) else "code from another place may run"
    if name.startswith(git_words.HARMLESS_SETTINGS):
        return (), None
    if name.startswith(shell_git.COMMAND_SETTINGS):
        return running.sh(value.removeprefix("!")), None if is_static(value) else UNKNOWN_CODE
    return (), "code from another place may run"


def _alias(running: Running, value: str, arguments: Sequence[str] | None) -> tuple[Command, ...]:
    """git puts the arguments behind the text of an alias. Without a call they are unknown."""
    words = [Word(one) for one in arguments] if arguments is not None else []
    if not value.startswith("!"):
        parts = value.split()
        return running.argv((Word("git"), *(Word(part) for part in parts), *words))
    params = parameters([word.text for word in words])
    state = structs.replace(running.state, params=params)
    text = value[1:]
    called = running.sh(f'{text} "$@"', state) if words else ()
    return (*running.sh(text, state), *called)


def dashed(running: Running) -> tuple[Command, ...]:
    """`git-push origin` is `git push origin`."""
    base = running.texts[0].rsplit("/", 1)[-1]
    return running.argv((Word("git"), Word(base.removeprefix("git-")), *running.words[1:]))
