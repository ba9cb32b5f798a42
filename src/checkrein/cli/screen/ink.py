"""The one way from text to the terminal: lines of styled fragments, each made harmless, then written out.

A fragment is a style (words as rich writes them) and a text. No escape sequence comes from a text: the only
ones are those that the styles mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from prompt_toolkit.formatted_text import StyleAndTextTuples

from checkrein.base.harmless import harmless

Fragment = tuple[str, str]
Line = Sequence[Fragment]

_COLORS = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
_ATTRIBUTES = {"bold": 1, "dim": 2, "italic": 3, "underline": 4, "reverse": 7, "strike": 9}
_TAB = "    "


def plain(text: str) -> str:
    """One line of harmless text."""
    return harmless(text).replace("\t", _TAB).replace("\n", " ")


def words(text: str, style: str = "") -> list[Line]:
    """The lines of a text in one style."""
    return [[(style, line)] for line in harmless(text).split("\n")]


def encoded(lines: Iterable[Line], *, colors: bool = True) -> str:
    """What to write for finished lines: each ends with its line break."""
    written: list[str] = []
    for line in lines:
        for style, text in line:
            code = _codes(style) if colors and style else ""
            said = plain(text)
            written.append(f"\x1b[{code}m{said}\x1b[0m" if code and said else said)
        written.append("\r\n")
    return "".join(written)


def formatted(line: Line) -> StyleAndTextTuples:
    """The same for the lines that are drawn again and again."""
    return [(_classes(style), plain(text)) for style, text in line]


def cells(line: Line) -> int:
    """The columns that a line takes."""
    from prompt_toolkit.utils import get_cwidth

    return sum(get_cwidth(plain(text)) for _, text in line)


def cut(line: Line, columns: int) -> list[Fragment]:
    """A line that fits, with a sign where it was cut."""
    if columns <= 0:
        return []
    if cells(line) <= columns:
        return list(line)
    from prompt_toolkit.utils import get_cwidth

    kept: list[Fragment] = []
    room = columns - 1
    for style, text in line:
        taken = ""
        for char in plain(text):
            room -= get_cwidth(char)
            if room < 0:
                return [*kept, (style, f"{taken}…")]
            taken += char
        kept.append((style, taken))
    return kept


@lru_cache(1024)
def _codes(style: str) -> str:
    codes: list[str] = []
    base = 30
    for word in _meant(style):
        if word == "on":
            base = 40
        elif word in _ATTRIBUTES:
            codes.append(str(_ATTRIBUTES[word]))
        elif (color := word.removeprefix("bright_")) in _COLORS:
            codes.append(str(_COLORS.index(color) + base + 60 * (color != word)))
    return ";".join(codes)


@lru_cache(1024)
def _classes(style: str) -> str:
    names: list[str] = []
    before = "fg"
    for word in _meant(style):
        if word == "on":
            before = "bg"
        elif word in _ATTRIBUTES:
            names.append(word)
        elif (color := word.removeprefix("bright_")) in _COLORS:
            names.append(f"{before}:{_named(color, bright=color != word)}")
    return " ".join(names)


def _named(color: str, *, bright: bool) -> str:
    if color == "white":
        return "ansiwhite" if bright else "ansigray"
    return f"ansi{'bright' if bright else ''}{color}"


def _meant(style: str) -> list[str]:
    """The words of a style without those that `not` takes back."""
    found = style.split()
    return [word for at, word in enumerate(found) if word != "not" and (not at or found[at - 1] != "not")]
