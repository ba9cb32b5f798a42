"""The Markdown parser, with rules that are not asked where they can't match.

Most of its time goes into rules that look at a line and say no. A rule that needs a certain first character
is called only on lines that have it, and the one for underlined headings only above a line that could
underline. The tokens are the same; a property test holds that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token

    Rule = Callable[[StateBlock, int, int, bool], bool]

_FIRST: Mapping[str, str] = {
    "fence": "`~",
    "blockquote": ">",
    "hr": "*-_",
    "list": "*-+0123456789",
    "reference": "[",
    "html_block": "<",
    "heading": "#",
}


def tokens(text: str) -> list[Token]:
    """Block tokens of commonmark with tables; the text inside them is not parsed."""
    return _parser().parse(text, {"underlined": _underlined(text)})


@cache
def _parser() -> MarkdownIt:
    made = plain_parser()
    ruler = made.block.ruler
    for rule in ruler.__rules__:
        if rule.name in _FIRST:
            ruler.at(rule.name, _starting(_FIRST[rule.name], rule.fn), {"alt": rule.alt})
        elif rule.name == "table":
            ruler.at(rule.name, _above_a_border(rule.fn), {"alt": rule.alt})
        elif rule.name == "lheading":
            ruler.at(rule.name, _above_a_line(rule.fn), {"alt": rule.alt})
    return made


def plain_parser() -> MarkdownIt:
    """The parser without the short cuts."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable("table").disable(["inline", "text_join"])


def _starting(first: str, rule: Rule) -> Rule:
    def guarded(state: StateBlock, line: int, end: int, silent: bool) -> bool:
        at = state.bMarks[line] + state.tShift[line]
        return state.src[at : at + 1] in first and rule(state, line, end, silent)

    return guarded


def _above_a_border(rule: Rule) -> Rule:
    def guarded(state: StateBlock, line: int, end: int, silent: bool) -> bool:
        if line + 2 > end:
            return False
        at = state.bMarks[line + 1] + state.tShift[line + 1]
        return state.src[at : at + 1] in "|-:" and rule(state, line, end, silent)

    return guarded


def _above_a_line(rule: Rule) -> Rule:
    def guarded(state: StateBlock, line: int, end: int, silent: bool) -> bool:
        return line in state.env["underlined"] and rule(state, line, end, silent)

    return guarded


def _underlined(text: str) -> frozenset[int]:
    """Numbers, from 0, of the lines with a line of `-` or `=` below them and no blank one between."""
    found: set[int] = set()
    run = 0
    for number, line in enumerate(text.split("\n")):
        if not line.strip(" \t"):
            run = number + 1
        elif number > run and line.rstrip(" \t")[-1] in "-=" and len(set(line.strip(" \t>"))) == 1:
            found.update(range(run, number))
            run = number
    return frozenset(found)
