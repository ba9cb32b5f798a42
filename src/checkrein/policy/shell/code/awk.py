"""Code of awk: whether it runs commands, and which; whether it only selects lines and fields."""

from __future__ import annotations

import re

from checkrein.facts.code_words import AWK_SELECTS, AWK_WORDS
from checkrein.policy.shell.code import Effect

_TOKEN = re.compile(
    r"(?P<blank>[ \t\r]+|\\\n|#[^\n]*)|(?P<string>\"(?:[^\"\\\n]|\\.)*\")|(?P<number>\d[\w.]*|\.\d+)"
    r"|(?P<word>[A-Za-z_]\w*)|(?P<sign>\|&|\|\||&&|>>|[<>=!]=|\+\+|--|[-+*/%^]=|\*\*|.|\n)",
    re.DOTALL,
)
_REGEX = re.compile(r"/(?:[^/\\\n\[]|\\.|\[\^?\]?[^\]\n]*\])*/")
_ENDS = (";", "\n", "{", "}")
_SELECTING = frozenset("{}()[]$;,~!<>+-*%=\n") | {"==", "!=", "<=", ">=", "&&", "||", "++", "--", "+=", "-="}
_BEFORE_REGEX = ("", *_ENDS, "(", ",", "~", "!", "&&", "||")
_OWN_NAME = re.compile(r"[a-z][a-z0-9_]*")
"""What a program may call its variables. The names of awk that matter are known, or in capitals."""


def awk(code: str) -> Effect:
    tokens = _tokens(code)
    if tokens is None:
        return Effect(False)
    texts: list[str] = []
    for at, (kind, text) in enumerate(tokens):
        if text in ("@", "|&", "\\"):
            return Effect(False)
        if (
            kind == "word"
            and text not in AWK_WORDS
            and _text(tokens, at + 1) == "("
            and not _is_defined(tokens, text)
        ):
            return Effect(False)
        command: str | None = ""
        if text == "system":
            command = _literal(tokens, at + 2) if _text(tokens, at + 3) == ")" else None
        elif text == "|":
            command = _piped(tokens, at)
        if command is None:
            return Effect(False)
        if command:
            texts.append(command)
    return Effect(True, tuple(texts))


def selects(code: str) -> bool:
    """Whether a program surely only selects and counts: lines, fields, numbers of lines.

    Its words and signs are all on a list, so it has no way to name a file, a command or a variable of the
    environment. A `>` compares outside of actions and inside of round brackets; anywhere else it may write. A
    program that selects nothing, such as `{print}`, is not among them.
    """
    tokens = _tokens(code)
    if tokens is None or "\\\n" in code:
        return False
    braces = brackets = 0
    chooses = False
    for at, (kind, text) in enumerate(tokens):
        if kind == "word":
            own = _OWN_NAME.fullmatch(text) and text not in AWK_WORDS and _text(tokens, at + 1) != "("
            if text not in AWK_SELECTS and not own:
                return False
        elif kind == "regex" and ("/" in text[1:-1] or _text(tokens, at - 1) not in _BEFORE_REGEX):
            return False  # it may end elsewhere, or be a division
        elif (kind == "sign" and text not in _SELECTING) or (text == ">" and braces and not brackets):
            return False
        braces += (text == "{") - (text == "}")
        brackets += (text == "(") - (text == ")")
        if braces < 0 or brackets < 0:
            return False
        chooses = chooses or kind == "regex" or text in ("$", "NR", "FNR", "NF", "END")
    return chooses and braces == brackets == 0


def _tokens(code: str) -> list[tuple[str, str]] | None:
    found: list[tuple[str, str]] = []
    at = 0
    while at < len(code):
        if code[at] == "/" and _starts_regex(found):
            regex = _REGEX.match(code, at)
            if regex is None:
                return None
            found.append(("regex", regex.group()))
            at = regex.end()
            continue
        token = _TOKEN.match(code, at)
        if token is None or token.lastgroup is None:
            return None
        if token.lastgroup != "blank":
            found.append((token.lastgroup, token.group()))
        at = token.end()
    return found


def _starts_regex(before: list[tuple[str, str]]) -> bool:
    if not before:
        return True
    kind, text = before[-1]
    return (kind == "sign" and text not in (")", "]", "$", "++", "--")) or text in ("print", "return", "in")


def _text(tokens: list[tuple[str, str]], at: int) -> str:
    return tokens[at][1] if 0 <= at < len(tokens) else ""


def _is_defined(tokens: list[tuple[str, str]], name: str) -> bool:
    return any(
        _text(tokens, at - 1) in ("function", "func") for at, one in enumerate(tokens) if one[1] == name
    )


def _literal(tokens: list[tuple[str, str]], at: int) -> str | None:
    """The text of a string, when it is the whole argument."""
    kind, text = tokens[at] if 0 <= at < len(tokens) else ("", "")
    if kind != "string" or re.search(r"\\[^nt\"\\/]", text):
        return None
    return text[1:-1].replace('\\"', '"').replace("\\n", "\n").replace("\\t", "\t").replace("\\\\", "\\")


def _piped(tokens: list[tuple[str, str]], at: int) -> str | None:
    """`print | "sort"`, `"date" | getline`: the command, when it is one literal string."""
    if _text(tokens, at + 1) == "getline":
        alone = _text(tokens, at - 2) in ("", *_ENDS, "(", "=", "&&", "||", "!")
        return _literal(tokens, at - 1) if alone else None
    alone = _text(tokens, at + 2) in ("", *_ENDS)
    return _literal(tokens, at + 1) if alone else None
