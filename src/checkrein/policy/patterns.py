"""What a command pattern means: `npm run build`, `git push *`, `npm run test:*`, `ls*`, `* --version`.

`*` matches any characters, blanks included, at any place. A last ` *` (or `:*`, which means the same) also
matches no text, but only at the end of a word: `git push *` matches `git push` and not `git pushx`. `:*`
elsewhere is literal. A pattern without `*` is exact. `\\*` is a literal star.
"""

from __future__ import annotations

import re

from msgspec import Struct

from checkrein.policy.abstract import STAR, may_match

_BLANKS = re.compile(r"[ \t\n]+")


class CommandPattern(Struct, frozen=True):
    text: str
    exact: bool
    regex: re.Pattern[str]
    tokens: tuple[str, ...]
    boundary: bool
    """The pattern ends in ` *`."""
    first: str | None
    """The first word when it is literal: only commands of that name can match."""

    def matches(self, text: str) -> bool:
        return self.regex.fullmatch(text) is not None

    def may_match(self, text: str) -> bool:
        """Whether a partly known text may match."""
        if may_match(self.tokens, text):
            return True
        return self.boundary and may_match((*self.tokens, " ", STAR), text)


def normal(text: str) -> str:
    """One blank between words, none at the ends."""
    return _BLANKS.sub(" ", text).strip(" ")


def compile_command(specifier: str) -> CommandPattern:
    spec = specifier.strip()
    boundary = False
    if spec.endswith(":*"):
        spec, boundary = spec[:-2], True
    elif spec.endswith(" *") and not spec.endswith("\\ *"):
        spec, boundary = spec[:-2].rstrip(), True
    tokens = _tokens(spec)
    exact = not boundary and STAR not in tokens
    if not exact:
        tokens = _tokens(normal(spec))
    body = "".join(".*" if token == STAR else re.escape(token) for token in tokens)
    if boundary:
        body += r"(?:[ \t\n].*)?"
    word = normal(spec).split(" ", 1)[0]
    literal = "*" not in word and (" " in normal(spec) or boundary or exact)
    return CommandPattern(
        specifier, exact, re.compile(body, re.DOTALL), tuple(tokens), boundary, word if literal else None
    )


def _tokens(text: str) -> list[str]:
    tokens: list[str] = []
    at = 0
    while at < len(text):
        char = text[at]
        if char == "\\" and text[at + 1 : at + 2] == "*":
            tokens.append("*")
            at += 2
            continue
        tokens.append(STAR if char == "*" else char)
        at += 1
    return tokens
