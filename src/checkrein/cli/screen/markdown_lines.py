"""Markdown and code as styled lines of a width. Rich lays them out; the terminal's own colours are enough."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checkrein.base.harmless import harmless
from checkrein.cli.screen.ink import Fragment, Line
from checkrein.cli.screen.reply import Block

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from checkrein.cli.screen.theme import Theme

_NARROWEST = 20
_WIDEST = 120
_INDENT = "  "
_COLORED = 20_000
"""Characters of one block that are worth highlighting."""


class MarkdownLines:
    """For one thread."""

    def __init__(self, theme: Theme) -> None:
        self._theme = theme
        self._console: Console | None = None

    def of(self, block: Block, columns: int, *, hurry: bool = False) -> list[Line]:
        """The lines of a block, indented, after an empty one. In a hurry they are plain."""
        width = max(_NARROWEST, min(columns, _WIDEST) - len(_INDENT) - 1)
        text = harmless(block.text)
        before: list[Line] = [] if block.goes_on else [[]]
        if hurry or len(text) > _COLORED:
            return [*before, *([("", _INDENT + line)] for line in text.split("\n"))]
        made = self._rendered(self._made(text, block, width), width)
        return [*before, *([("", _INDENT), *line] if line else [] for line in _without_margins(made))]

    def _made(self, text: str, block: Block, width: int) -> RenderableType:
        if block.language is not None:
            from rich.syntax import Syntax

            return Syntax(
                text,
                block.language or "text",
                theme=self._theme.code,
                word_wrap=True,
                background_color="default",
                code_width=width,
            )
        from checkrein.cli.screen.left_headings import LeftMarkdown

        return LeftMarkdown(text, code_theme=self._theme.code, hyperlinks=False)

    def _rendered(self, what: RenderableType, width: int) -> list[list[Fragment]]:
        if self._console is None:
            from rich.console import Console
            from rich.theme import Theme as Styles

            self._console = Console(
                force_terminal=True,
                color_system="standard",
                emoji=False,
                markup=False,
                theme=Styles({"markdown.code": "bold", "markdown.h1": "bold underline"}),
            )
        options = self._console.options.update(width=width, highlight=False)
        colors = self._theme.colors
        return [
            _trimmed(
                [(str(part.style or "") if colors else "", part.text) for part in line if not part.control]
            )
            for line in self._console.render_lines(what, options, pad=False)
        ]


def _trimmed(line: list[Fragment]) -> list[Fragment]:
    """Without blanks at the end, which a terminal would keep when somebody copies the line."""
    kept = list(line)
    while kept and not kept[-1][1].strip():
        kept.pop()
    if kept:
        style, text = kept[-1]
        kept[-1] = style, text.rstrip()
    return kept


def _without_margins(lines: list[list[Fragment]]) -> list[list[Fragment]]:
    first = next((at for at, line in enumerate(lines) if line), 0)
    last = next((at for at in range(len(lines), 0, -1) if lines[at - 1]), 0)
    return lines[first:last]
