"""Code of other languages on a command line: whether it starts processes, and which shell text it runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from msgspec import Struct

from checkrein.facts import code_words
from checkrein.facts.shell_code import SPAWNS
from checkrein.policy.abstract import is_static

MAX_CODE = 20_000
"""Longer code is not read."""


class Effect(Struct, frozen=True):
    """`plain`: the code starts nothing but the shell texts in `texts`."""

    plain: bool
    texts: tuple[str, ...] = ()


def effect(language: str, code: Sequence[str]) -> Effect:
    """What the parts of a program do."""
    texts: list[str] = []
    for one in code:
        found = _one(language, one)
        if not found.plain:
            return found
        texts.extend(found.texts)
    return Effect(True, tuple(texts))


def _one(language: str, code: str) -> Effect:
    if not is_static(code) or len(code) > MAX_CODE:
        return Effect(False)
    if language == "awk":
        from checkrein.policy.shell.code.awk import awk

        return awk(code)
    check = _CHECKS.get(language)
    if check is not None:
        return Effect(check(code))
    pattern = SPAWNS.get(language)
    return Effect(pattern is not None and re.search(pattern, code) is None)


def _python(code: str) -> bool:
    from checkrein.policy.shell.code.python import is_plain

    return is_plain(code)


def _javascript(code: str) -> bool:
    from checkrein.policy.shell.code.javascript import is_plain

    return is_plain(code)


_STRING = re.compile(r"\"(?:[^\"\\`$@#]|\\[nt\"\\])*\"|'[^'\\`]*'")
_WORD = re.compile(r"[$@%]?\b[A-Za-z_][\w:]*")
_DELIMITED = r"(?:s|tr|y)([/|#,!])(?:(?!\1)[^\\{}`]|\\[^{}`])*\1(?:(?!\1)[^\\{}`]|\\[^{}`])*\1[gimsxrcdn]*"
_SUBSTITUTIONS = re.compile(rf"\s*(?:{_DELIMITED}\s*)(?:;\s*)?")


_MATCH = re.compile(
    r"((?:\b(?:if|unless|and|or|not|while|split)\b|[(!~,])\s*+|^[ \t]*+)/[^/\\`{}@$]*/[gimsx]*(?![a-z])",
    re.MULTILINE,
)


def _perl(code: str) -> bool:
    """Substitutions without code in them, or statements of plain words."""
    at = 0
    while at < len(code):
        found = _SUBSTITUTIONS.match(code, at)
        if found is None or found.end() == at or re.search(r"\(\?+[{p]|@\{|\$\{|\$\(|@\(", found.group()):
            break
        at = found.end()
    rest = _MATCH.sub(r"\1''", code[at:])
    return not rest.strip() or _by_words(
        rest, code_words.PERL_WORDS, r"[`\\<]|->|&\w|\*|::|\bs\W|\bqx|\bdo\b|/\w*e|\$\$|@\{|\$\{"
    )


def _by_words(code: str, allowed: frozenset[str], forbidden: str) -> bool:
    """Whether all words outside of plain strings are known, and no sign is there that hides a call."""
    bare = _STRING.sub('""', code)
    if re.search(forbidden, bare):
        return False
    return all(word[0] in "$@%" or word in allowed for word in _WORD.findall(bare))


def _sqlite(code: str) -> bool:
    """SQL without functions that load or write; only some dot commands."""
    if re.search(r"(?i)load_extension|edit\s*\(|writefile|fts3_tokenizer", code):
        return False
    lines = [line for line in code.split("\n") if re.match(r"\s*\.[A-Za-z]", line)]
    return all(re.fullmatch(code_words.SQLITE_COMMANDS, line.strip()) for line in lines)


_CHECKS: dict[str, Callable[[str], bool]] = {
    "python": _python,
    "javascript": _javascript,
    "perl": _perl,
    "ruby": lambda code: _by_words(code, code_words.RUBY_WORDS, r"[`\\<\[%]|&:|#\{|::"),
    "php": lambda code: _by_words(code, code_words.PHP_WORDS, r"[`\\<\[]|\$\$|\$\w+\s*\(|->|::"),
    "lua": lambda code: _by_words(code, code_words.LUA_WORDS, r"[\\\[]|_G|_ENV"),
    "sqlite": _sqlite,
    "vim": lambda code: re.fullmatch(code_words.VIM_COMMANDS, code) is not None,
    "gdb": lambda code: all(re.fullmatch(code_words.GDB_COMMANDS, line) for line in code.split("\n")),
    "m4": lambda code: re.fullmatch(r"[\w\s.,;]*", code) is not None and "syscmd" not in code,
}
