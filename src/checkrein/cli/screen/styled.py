"""What commands print for people, as lines of the screen. Their own colours stay; no other escape does."""

from __future__ import annotations

from checkrein.cli import out
from checkrein.cli.screen.ink import Fragment, Line

_WORDS = {
    1: "bold",
    2: "dim",
    31: "red",
    32: "green",
    33: "yellow",
    34: "blue",
    35: "magenta",
    36: "cyan",
}


def lines_of(text: str, indent: str = "  ") -> list[Line]:
    """The lines of a text that `out.style` may have coloured."""
    lines: list[list[Fragment]] = [[("", indent)]]
    for codes, said in out.pieces(text.rstrip("\n")):
        style = " ".join(_WORDS[code] for code in codes if code in _WORDS)
        first, *more = said.split("\n")
        lines[-1].append((style, first))
        lines += [[("", indent), (style, line)] for line in more]
    return [[fragment for fragment in line if fragment[1]] for line in lines]
