"""Whether a command only reads or prints, by built-in knowledge."""

from __future__ import annotations

import re
from collections.abc import Sequence

from checkrein.facts import shell_git
from checkrein.facts.shell_readonly import (
    DOCKER,
    DOCKER_UNSAFE,
    FIND_SAFE,
    FIND_VALUES,
    JQ_UNSAFE,
    READ_ONLY,
    SED_SAFE,
    VERSIONS,
    ReadOnly,
)
from checkrein.policy.abstract import ANY, is_glob, is_static
from checkrein.policy.paths import join, normal
from checkrein.policy.shell.nested import split_git
from checkrein.policy.shell.options import split_options
from checkrein.policy.shell.program import Command

_VALUED = "SGLCMBUAnlme"
"""Short options of git whose value follows the letter in the same word."""


def is_read_only(command: Command, home: str) -> bool:
    """Whether the command, its options and its operands all certainly change nothing."""
    words = command.words
    name = words[0]
    if words in VERSIONS:
        return True
    if name == "git":
        return _git(words[1:], command.cwds, home, command.moved)
    if name == "docker":
        return _docker(words[1:])
    fact = READ_ONLY.get(name)
    if fact is None or not _words_known(command, fact):
        return False
    if not _options_safe(fact, words[1:]):
        return False
    special = _SPECIAL.get(name)
    return special is None or special(words[1:])


def _words_known(command: Command, fact: ReadOnly) -> bool:
    if fact.inert:
        return True
    if any(ANY in word for word in command.words) or command.unknown_words:
        return False
    return fact.globs or not any(is_glob(word) for word in command.words)


def _options_safe(fact: ReadOnly, words: Sequence[str]) -> bool:
    options = split_options(words, "", ())
    if not fact.options and options.flags:
        return False
    for flag, _ in options.flags:
        if len(flag) == 1 and flag in fact.unsafe:
            return False
        if len(flag) > 1 and any(name.startswith(flag) for name in fact.unsafe_long):
            return False
    if fact.operands == "none":
        return not options.operands
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
    """Printing scripts only: `sed -n 1,5p`, `sed s/a/b/`."""
    options = split_options(words, "e", ("expression",))
    if any(
        flag not in ("n", "E", "r", "e", "quiet", "silent", "expression", "regexp-extended")
        for flag, _ in options.flags
    ):
        return False
    scripts = options.values(("e", "expression")) or list(options.operands[:1])
    return bool(scripts) and all(re.fullmatch(SED_SAFE, script) for script in scripts)


def _jq(words: Sequence[str]) -> bool:
    return not any(re.search(JQ_UNSAFE, word) for word in words)


def _ps(words: Sequence[str]) -> bool:
    """`ps e` shows the environment of every process."""
    return not any("e" in word for word in words if not word.startswith("-")) and not any(
        re.fullmatch(r"-\w*E\w*", word) for word in words
    )


_SPECIAL = {"find": _find, "sed": _sed, "jq": _jq, "ps": _ps}


def _docker(words: Sequence[str]) -> bool:
    if not words or words[0] not in DOCKER or not all(is_static(word) for word in words):
        return False
    return not any(
        word == option or word.startswith(f"{option}=") for word in words for option in DOCKER_UNSAFE
    )


def _git(words: Sequence[str], cwds: Sequence[str], home: str, moved: bool) -> bool:
    """A listed subcommand with safe options, in the session's directory."""
    if moved or not all(is_static(word) for word in words):
        return False
    _, rest = split_git(tuple(words))
    at = 0
    leading = words[: len(words) - len(rest)]
    while at < len(leading):
        if leading[at] == "-C" and all(normal(join(leading[at + 1], cwd, home)) == cwd for cwd in cwds):
            at += 2
        elif leading[at] in shell_git.GLOBAL_HARMLESS:
            at += 1
        else:
            return False
    if not rest:
        return False
    form = shell_git.READ_ONLY.get(rest[0])
    if any(re.search(shell_git.UNSAFE_WORDS, word) for word in rest[1:]):
        return False
    return form is not None and _form(rest[0], form, rest[1:])


def _form(name: str, form: shell_git.Form, words: Sequence[str]) -> bool:
    before = list(words[: words.index("--")]) if "--" in words else list(words)
    flags = [word.split("=", 1)[0] for word in before if word.startswith("-") and word != "-"]
    operands = [word for word in before if not word.startswith("-")]
    for flag in flags:
        if any(_same(flag, unsafe) for unsafe in form.unsafe):
            return False
        if form.only is not None and flag not in form.only and not re.fullmatch(r"-n\d+|--[\w-]+=.*", flag):
            return False
    if not words:
        return form.operands in ("any", "none") or name in shell_git.BARE_READ_ONLY
    if form.operands == "listing":
        return bool(form.listers.intersection(flags)) or not operands
    if form.operands == "subs":
        return (not operands and name in shell_git.BARE_READ_ONLY) or (
            bool(operands) and operands[0] in form.subs and before[0] == operands[0]
        )
    return True


def _same(flag: str, unsafe: str) -> bool:
    """Long options may be abbreviated; short ones may include their value."""
    if unsafe.startswith("--"):
        return flag.startswith("--") and len(flag) > 3 and (unsafe.startswith(flag) or flag == unsafe)
    return not flag.startswith("--") and re.match(f"-[^{_VALUED}]*{unsafe[1]}", flag) is not None
