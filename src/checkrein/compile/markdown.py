"""The Markdown parser, which skips rules that can't match.

Most of its time goes into rules that look at a line and say no. A rule that needs a certain first character
runs only on lines that have it, the one for tables only above a line that could be a border, and the one for
underlined headings only above a line that could underline. The parser also reads text deeper than the items
of an outermost list, since it decides where blocks end, but makes no tokens of it. The tokens that stay are
the library's; a property test checks that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token

    Rule = Callable[[StateBlock, int, int, bool], bool]

DEEP = 2
"""The first level without tokens: inside an item, a cell, the paragraph of a quote."""
_FIRST: Mapping[str, str] = {
    "fence": "`~",
    "blockquote": ">",
    "hr": "*-_",
    "list": "*-+0123456789",
    "reference": "[",
    "html_block": "<",
    "heading": "#",
}
_BORDER = frozenset("|-: \t")


class _Parser(Struct, frozen=True):
    library: MarkdownIt
    state: type[StateBlock]


def tokens(text: str) -> list[Token]:
    """Block tokens of commonmark with tables, down to the items of lists; the text in them is not parsed."""
    source = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    parser = _parser()
    underlined, bordered = _ahead(source)
    env = {"underlined": underlined, "bordered": bordered}
    state = parser.state(source, parser.library, env, [])
    parser.library.block.tokenize(state, 0, state.lineMax)
    return state.tokens


def plain_parser() -> MarkdownIt:
    """The parser without the short cuts."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable("table").disable(["inline", "text_join"])


@cache
def _parser() -> _Parser:
    made = plain_parser()
    ruler = made.block.ruler
    rules = {rule.name: rule.fn for rule in ruler.__rules__ if rule.enabled}
    enders: dict[str, list[str]] = {}
    for rule in ruler.__rules__:
        for chain in rule.alt if rule.enabled else ():
            enders.setdefault(chain, []).append(rule.name)
    # `code` stays enabled, since the state asks for it by name; `_block` answers before it is called.
    ruler.enableOnly(["code"])
    ruler.before("code", "block", _block(rules))
    for chain, names in enders.items():
        ruler.push(f"ends {chain}", _ends(rules, names), {"alt": [chain]})
    return _Parser(made, _shallow_state())


def _by_first(rules: Mapping[str, Rule], names: list[str]) -> dict[str, tuple[Rule, ...]]:
    """The rules to try, by the first character of a line; all of them when there is none."""
    found = {
        first: tuple(rules[name] for name in names if first in _FIRST.get(name, ""))
        for first in "".join(_FIRST.values())
    }
    return {**found, "": tuple(rules[name] for name in names if name in _FIRST)}


def _block(rules: Mapping[str, Rule]) -> Rule:
    """All rules, in the order of the library."""
    asked = _by_first(rules, list(rules))
    table, code, underlined, paragraph = (rules[name] for name in ("table", "code", "lheading", "paragraph"))

    def block(state: StateBlock, line: int, end: int, silent: bool) -> bool:
        if line in state.env["bordered"] and table(state, line, end, silent):
            return True
        if state.sCount[line] - state.blkIndent >= 4:
            return code(state, line, end, silent)
        at = state.bMarks[line] + state.tShift[line]
        for rule in asked.get(state.src[at : at + 1], ()):
            if rule(state, line, end, silent):
                return True
        if line in state.env["underlined"] and underlined(state, line, end, silent):
            return True
        return paragraph(state, line, end, silent)

    return block


def _ends(rules: Mapping[str, Rule], names: list[str]) -> Rule:
    """Whether a line ends the block above it: one rule that tries those of `names` that can match."""
    asked = _by_first(rules, names)
    table = rules["table"] if "table" in names else None

    def ends(state: StateBlock, line: int, end: int, silent: bool) -> bool:
        if table is not None and line in state.env["bordered"] and table(state, line, end, silent):
            return True
        at = state.bMarks[line] + state.tShift[line]
        found = asked.get(state.src[at : at + 1])
        return found is not None and any(rule(state, line, end, silent) for rule in found)

    return ends


def _shallow_state() -> type[StateBlock]:
    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token

    nowhere = Token("", "", 0)

    class Shallow(StateBlock):
        """Keeps no tokens from DEEP on, and slices no text for them."""

        def push(self, ttype: str, tag: str, nesting: Literal[-1, 0, 1]) -> Token:
            level = self.level
            if level > DEEP or (level == DEEP and nesting >= 0):
                self.level = level + nesting
                return nowhere
            return super().push(ttype, tag, nesting)

        def getLines(self, begin: int, end: int, indent: int, keepLastLF: bool) -> str:  # noqa: N802, N803  (the library's)
            return super().getLines(begin, end, indent, keepLastLF) if self.level < DEEP else ""

    return Shallow


def _ahead(text: str) -> tuple[frozenset[int], frozenset[int]]:
    """Numbers, from 0, of the lines with a line of `-` or `=` below them and no blank one between, and of the
    lines right above a possible border of a table."""
    underlined: set[int] = set()
    bordered: set[int] = set()
    run = 0
    for number, line in enumerate(text.split("\n")):
        bare = line.strip(" \t")
        if not bare:
            run = number + 1
        elif bare[-1] in "-=|:":
            if number > run and bare[-1] in "-=" and len(set(bare.strip(" \t>"))) == 1:
                underlined.update(range(run, number))
                run = number
            if _BORDER.issuperset(bare.lstrip(" \t>")):
                bordered.add(number - 1)
    return frozenset(underlined), frozenset(bordered)
