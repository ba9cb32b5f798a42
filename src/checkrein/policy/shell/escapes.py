"""Quoting: what backslashes mean outside quotes, in double quotes and in `$'...'`."""

from __future__ import annotations

import re

from checkrein.base.later import later

_ANSI = later(
    r"\\(?:([abeEfnrtv\\'\"?])|([0-7]{1,3})|x(?:\{([0-9A-Fa-f]*)\}?|([0-9A-Fa-f]{1,2}))|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|c(.))",
    re.DOTALL,
)
_NAMED = {
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
}
_DOUBLE = later(r"\\([$`\"\\\n])")


def unquoted(text: str) -> tuple[str, str]:
    """Text and marks of a word without quotes; an escaped character counts as quoted."""
    if "\\" not in text:
        return text, "u" * len(text)
    out: list[str] = []
    marks: list[str] = []
    at = 0
    while at < len(text):
        char = text[at]
        if char == "\\" and at + 1 < len(text):
            at += 1
            if text[at] != "\n":
                out.append(text[at])
                marks.append("q")
        else:
            out.append(char)
            marks.append("u")
        at += 1
    return "".join(out), "".join(marks)


def double_quoted(text: str) -> str:
    return _DOUBLE.sub(lambda found: "" if found.group(1) == "\n" else found.group(1), text)


def ansi_c(text: str) -> str:
    """`$'...'` without its quotes. A NUL ends the text, as it does in bash."""
    return _ANSI.sub(_ansi_char, text).split("\0", 1)[0]


def _ansi_char(found: re.Match[str]) -> str:
    named, octal, braced, byte, short, long, control = found.groups()
    if named:
        return _NAMED.get(named, named)
    if octal:
        return chr(int(octal, 8) & 0xFF)
    if control:
        return chr(ord(control.upper()) ^ 0x40) if ord(control) < 128 else control
    if braced is not None:
        return chr(int(braced, 16) & 0xFF) if braced else found.group()
    code = int(byte or short or long, 16)
    return chr(code) if code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF else "�"
