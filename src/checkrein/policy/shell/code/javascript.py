"""JavaScript code: whether it can only compute, print, and read and write files."""

from __future__ import annotations

import re

from checkrein.facts.code_words import (
    JAVASCRIPT_MODULES,
    JAVASCRIPT_PROCESS,
    JAVASCRIPT_PROPERTIES,
    JAVASCRIPT_ROOTS,
)

_TOKEN = re.compile(
    r"(?P<blank>\s+|//[^\n]*|/\*.*?\*/)"
    r"|(?P<string>'(?:[^'\\\n]|\\[nrt'\"\\])*'|\"(?:[^\"\\\n]|\\[nrt'\"\\])*\")"
    r"|(?P<number>\d[\w.]*)|(?P<word>[A-Za-z_$][\w$]*)|(?P<sign>=>|\?\.|\.\.\.|[^\w\s\\`/@#])",
    re.DOTALL,
)
_DECLARED = re.compile(
    r"\b(?:const|let|var|function|class)\s+([A-Za-z_$][\w$]*)|(?<![\w$])([A-Za-z_$][\w$]*+)\s*=>"
)
_LISTED = re.compile(r"(?:\b(?:const|let|var)\s*[{\[]([^{}\[\]()]*)[}\]]|\(([\w\s,${}]*)\)\s*(?:=>|\{))")
_NAME = re.compile(r"[A-Za-z_$][\w$]*")


def is_plain(code: str) -> bool:
    tokens = _tokens(code)
    if tokens is None:
        return False
    own = {name for found in _DECLARED.findall(code) for name in found if name}
    own |= {name for found in _LISTED.findall(code) for part in found for name in _NAME.findall(part)}
    if own & {"require", "process", "Function", "eval", "globalThis", "global", "module"}:
        return False
    return all(_token(tokens, at, own) for at in range(len(tokens)))


def _tokens(code: str) -> list[tuple[str, str]] | None:
    found: list[tuple[str, str]] = []
    at = 0
    while at < len(code):
        token = _TOKEN.match(code, at)
        if token is None:
            return None
        at = token.end()
        if token.lastgroup is not None and token.lastgroup != "blank":
            found.append((token.lastgroup, token.group()))
    return found


def _token(tokens: list[tuple[str, str]], at: int, own: set[str]) -> bool:
    kind, text = tokens[at]
    before = tokens[at - 1][1] if at else ""
    behind = [one for _, one in tokens[at + 1 : at + 4]]
    if text == "[" and at and (tokens[at - 1][0] in ("word", "string") or before in (")", "]")):
        return _element(tokens, at)
    if kind != "word":
        return True
    if before in (".", "?.") or behind[:1] == [":"]:
        return re.fullmatch(JAVASCRIPT_PROPERTIES, text) is None
    if text == "require":
        return len(behind) == 3 and behind[0] == "(" and behind[2] == ")" and (
            re.fullmatch(JAVASCRIPT_MODULES, behind[1][1:-1]) is not None
        )  # fmt: skip
    if text == "process":
        return behind[:1] == ["."] and behind[1] in JAVASCRIPT_PROCESS
    return (text in JAVASCRIPT_ROOTS or text in own) and re.fullmatch(JAVASCRIPT_PROPERTIES, text) is None


def _element(tokens: list[tuple[str, str]], at: int) -> bool:
    """`a[0]` or `a["b"]`, and nothing computed."""
    kind, text = tokens[at + 1] if at + 1 < len(tokens) else ("", "")
    closed = at + 2 < len(tokens) and tokens[at + 2][1] == "]"
    if kind == "string":
        return closed and re.fullmatch(JAVASCRIPT_PROPERTIES, text[1:-1]) is None
    return closed and kind == "number"
