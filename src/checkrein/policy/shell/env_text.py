"""`env -S TEXT`: how env splits a text into words."""

from __future__ import annotations

import re

_SPLIT = re.compile(
    r"(?P<blank>(?:[ \t\n\v\f\r]|\\_)+)|'(?P<raw>(?:[^'\\]|\\.)*)'|\"(?P<string>(?:[^\"\\]|\\.)*)\""
    r"|\\(?P<escape>.)"
    r"|(?P<text>[^ \t\n\v\f\r'\"\\]+)",
    re.DOTALL,
)


def split_string(text: str) -> list[str] | None:
    """The words of the text; `\\_` is a blank. None when it is not well formed."""
    split: list[str] = []
    current: str | None = None
    at = 0
    while at < len(text):
        found = _SPLIT.match(text, at)
        if found is None:
            return None
        at = found.end()
        if found["blank"] is not None:
            split.extend([current] if current is not None else [])
            current = None
        elif found["escape"] == "c" or (current is None and (found["text"] or "").startswith("#")):
            break
        else:
            current = (current or "") + _part(found)
    split.extend([current] if current is not None else [])
    return split


def _part(found: re.Match[str]) -> str:
    if found["raw"] is not None:
        return re.sub(r"\\([\\'])", r"\1", found["raw"])
    return _ESCAPE.sub(_unescaped, found["string"] if found["string"] is not None else found.group())


_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES = {"_": " ", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def _unescaped(found: re.Match[str]) -> str:
    return _ESCAPES.get(found.group(1), found.group(1))


def expands(text: str) -> bool:
    """Whether `env -S` would put the value of a variable into the text: `${X}` outside of single quotes."""
    quote = ""
    for at, char in enumerate(text):
        if char == quote:
            quote = ""
        elif not quote and char in "'\"":
            quote = char
        elif char == "$" and quote != "'" and text[at + 1 : at + 2] == "{":
            return True
    return False
