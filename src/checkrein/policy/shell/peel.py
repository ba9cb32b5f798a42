"""Separate the words of a wrapper from those of the command that it runs."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from checkrein.facts.shell_wrappers import Wrapper
from checkrein.policy.abstract import is_static
from checkrein.policy.shell.program import Word


class Peeled(Struct):
    """The parts of a wrapper's words."""

    rest: tuple[Word, ...] = ()
    texts: list[str] = []
    assigns: list[tuple[str, str]] = []
    bare: bool = True
    query: bool = False
    replace: str = ""
    unclear: bool = False
    """One of its own words is unknown, so the start of the command is unknown too."""


def peel(wrapper: Wrapper, words: Sequence[Word]) -> Peeled:
    """Separate the wrapper's own words from those of the command it runs."""
    out = Peeled()
    if wrapper.after:
        at = next((at for at, word in enumerate(words) if word.text in wrapper.after), None)
        if at is None:
            return out
        words = words[at + 1 :]
        if wrapper.shell_words:
            out.rest = tuple(words)
            return out
    operands = wrapper.operands
    at = 0
    while at < len(words):
        text = words[at].text
        out.unclear = out.unclear or not is_static(text)
        if text == "--":
            at += 1
            if operands:
                at += operands
            break
        if text == "-":
            at += 1
            continue
        if text.startswith("-"):
            at = _option(wrapper, words, at, out)
            continue
        if wrapper.assigns and "=" in text:
            name, _, value = text.partition("=")
            out.assigns.append((name, value))
        elif operands:
            operands -= 1
        else:
            break
        at += 1
    rest = list(words[at:])
    if wrapper.permutes:
        for place in range(len(rest)):
            if rest[place].text.startswith("-"):
                _option(wrapper, rest, place, out)
    for separator in wrapper.separators:
        end = next((at for at, word in enumerate(rest) if word.text == separator), None)
        if end is not None:
            rest = rest[:end]
    out.rest = tuple(rest)
    return out


def _option(wrapper: Wrapper, words: Sequence[Word], at: int, out: Peeled) -> int:
    """Read the option at `at`. Returns the position of the next word, and the value."""
    text = words[at].text
    following = words[at + 1].text if at + 1 < len(words) else ""
    out.bare = False
    if text.startswith("--"):
        name, given, value = text[2:].partition("=")
        takes = any(
            option.startswith(name) and len(option) > 1 for option in (*wrapper.long, *wrapper.strings)
        )
        if not given and takes:
            at, value = at + 1, following
        _note(wrapper, name, value, out)
        return at + 1
    for place, letter in enumerate(text[1:], 1):
        out.query = out.query or letter in wrapper.query
        if letter in wrapper.values or letter in wrapper.strings:
            value = text[place + 1 :]
            if not value:
                at, value = at + 1, following
            _note(wrapper, letter, value, out)
            break
    return at + 1


def _note(wrapper: Wrapper, name: str, value: str, out: Peeled) -> None:
    if any(name == option or (len(name) > 2 and option.startswith(name)) for option in wrapper.strings):
        out.texts.append(value)
    elif wrapper.appends and name in ("I", "i", "replace"):
        out.replace = value
