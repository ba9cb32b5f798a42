"""Text from models, tools, files and servers, made harmless for a terminal and for a reader's eye.

Control, escape and bidirectional characters, and characters that nobody sees, become visible escapes such as
`\\x1b`. Letters of all scripts and emoji stay: joiners and variation selectors are kept where they shape the
characters beside them.
"""

from __future__ import annotations

import re
from functools import cache

_JOINERS = "\u200c\u200d"
_SELECTORS = "\ufe00-\ufe0f"
_HARMFUL = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 except tab and newline, DEL, C1
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb"
    "\ud800-\udfff"  # half of a pair: a file name that is not UTF-8
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_BESIDE = (
    "[^\x00-\xa8\xaa-\xad\xaf-\xbf\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2000-\u206f"
    "\u3000\u3164\ufeff\uffa0\ufff0-\uffff\ud800-\udfff\U000e0000-\U0010ffff]"
)
"""A character that a joiner or a variation selector can shape: no ASCII, no space, no punctuation."""


_PLAIN = {ord("\n"): None, ord("\t"): None}


@cache
def _pattern() -> re.Pattern[str]:
    """Group 1 holds characters that stay because they shape the one before."""
    shaped = f"(?![{_SELECTORS}]){_BESIDE}"
    joiner = f"(?:(?<={shaped})|(?<={shaped}[{_SELECTORS}]))[{_JOINERS}](?={_BESIDE})"
    selector = f"(?<=[0-9#*]|{_BESIDE})(?<![{_SELECTORS}])[{_SELECTORS}]"
    return re.compile(f"({joiner}|{selector})|\r\n|[{_HARMFUL}{_JOINERS}{_SELECTORS}]")


def harmless(text: str) -> str:
    """The text with a visible escape for each harmful character. CR LF becomes a newline."""
    if text.isascii() and text.translate(_PLAIN).isprintable():
        return text
    return _pattern().sub(_visible, text)


def one_line(text: str) -> str:
    """The same for a name or a path: no newline either, so that it can't look like another line."""
    return harmless(text).replace("\n", "\\n").replace("\t", "\\t")


def indented(text: str) -> str:
    """All lines but the first further in, so that no line of others looks like ours."""
    return text.replace("\n", "\n      ")


def harmless_json(text: str) -> str:
    """JSON of the same meaning, in which no harmful character stands as it is."""
    if text.isascii() and text.translate(_PLAIN).isprintable():
        return text
    return _pattern().sub(_in_json, text)


def _visible(found: re.Match[str]) -> str:
    character = found[0]
    if found[1] is not None:
        return character
    if character == "\r\n":
        return "\n"
    code = ord(character)
    if code < 0x100:
        return "\\r" if character == "\r" else f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _in_json(found: re.Match[str]) -> str:
    character = found[0]
    if found[1] is not None or character in ("\r", "\r\n"):
        return character.replace("\r", "")
    code = ord(character)
    if code < 0x10000:
        return f"\\u{code:04x}"
    return f"\\u{0xD800 + ((code - 0x10000) >> 10):04x}\\u{0xDC00 + ((code - 0x10000) & 0x3FF):04x}"
