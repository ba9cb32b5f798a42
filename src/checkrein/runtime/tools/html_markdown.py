"""HTML to Markdown: the words of a page with its headings, lists, links, code and tables."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from urllib.parse import urljoin

_HIDDEN = frozenset(("script", "style", "noscript", "template", "svg", "iframe", "object", "canvas"))
_BLOCK_NAMES = """
p div section article main header footer nav aside form fieldset figure figcaption address dl dt dd
details summary ul ol blockquote pre table tr hr h1 h2 h3 h4 h5 h6
"""
_BLOCKS = frozenset(_BLOCK_NAMES.split())
_MARKS = {"strong": "**", "b": "**", "em": "*", "i": "*", "del": "~~", "s": "~~"}
_CELL = "\0"
"""Where a cell begins, until its row has ended."""
_BLANKS = re.compile(r"[ \t\r\n\f]+")
_GAPS = re.compile(r"\n{3,}")


def to_markdown(html: str, base: str = "") -> str:
    """The text of a page. Never fails: broken HTML gives its readable part."""
    reader = _Reader(base)
    reader.feed(html)
    reader.close()
    return reader.result()


class _Reader(HTMLParser):
    def __init__(self, base: str) -> None:
        super().__init__(convert_charrefs=True)
        self._base = base
        self._title = ""
        self._in_title = False
        self._hidden = 0
        self._pre = 0
        self._quotes = 0
        self._lists: list[int | None] = []
        self._links: list[tuple[str, int]] = []
        self._row: int | None = None
        self._header_done = False
        self._parts: list[str] = []

    def result(self) -> str:
        body = _GAPS.sub("\n\n", "".join(self._parts).replace(_CELL, " ")).strip()
        lines = "\n".join(line.rstrip() for line in body.split("\n"))
        title = _BLANKS.sub(" ", self._title).strip()
        if title and not lines.startswith(f"# {title}"):
            return f"# {title}\n\n{lines}".strip()
        return lines

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self._in_title = tag == "title" and not self._title
        if tag in _HIDDEN:
            self._hidden += 1
        if self._hidden:
            return
        given = {name: value or "" for name, value in attributes}
        if tag in _BLOCKS:
            self._break(2 if tag not in ("dt", "dd", "tr", "div") else 1)
        if tag[0] == "h" and tag[1:].isdecimal():
            self._parts.append("#" * int(tag[1:]) + " ")
        elif tag == "br":
            self._break(1)
        elif tag == "hr":
            self._parts.append("---\n\n")
        elif tag in ("ul", "ol"):
            first = given.get("start", "")
            self._lists.append(None if tag == "ul" else int(first) if first.isdecimal() else 1)
        elif tag == "li":
            self._item()
        elif tag == "blockquote":
            self._quotes += 1
            self._parts.append("> ")
        elif tag == "pre":
            self._pre += 1
            self._parts.append("```\n")
        elif tag == "code" and not self._pre:
            self._parts.append("`")
        elif tag in _MARKS and not self._pre:
            self._parts.append(_MARKS[tag])
        elif tag == "a":
            self._links.append((given.get("href", ""), len(self._parts)))
        elif tag == "img" and given.get("alt"):
            self._parts.append(f"![{given['alt']}]({urljoin(self._base, given.get('src', ''))})")
        elif tag == "tr":
            self._row = len(self._parts)
        elif tag in ("td", "th"):
            self._parts.append(" " if self._row is None else _CELL)
        elif tag == "table":
            self._header_done = False

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        if tag in _HIDDEN:
            self._hidden = max(0, self._hidden - 1)
            return
        if self._hidden:
            return
        if tag in ("ul", "ol") and self._lists:
            self._lists.pop()
        elif tag == "blockquote" and self._quotes:
            self._quotes -= 1
        elif tag == "pre" and self._pre:
            self._pre -= 1
            self._break(1)
            self._parts.append("```")
        elif tag == "code" and not self._pre:
            self._parts.append("`")
        elif tag in _MARKS and not self._pre:
            self._parts.append(_MARKS[tag])
        elif tag == "a" and self._links:
            self._end_link()
        elif tag == "tr" and self._row is not None:
            self._end_row(self._row)
        if tag in _BLOCKS:
            self._break(2 if tag not in ("dt", "dd", "tr", "div") else 1)

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self._title += data.replace(_CELL, "")
            return
        if self._hidden:
            return
        if self._pre:
            self._parts.append(data.replace(_CELL, ""))
            return
        text = _BLANKS.sub(" ", data.replace(_CELL, ""))
        if text.startswith(" ") and self._at_start():
            text = text[1:]
        if text:
            self._parts.append(text)

    def _at_start(self) -> bool:
        return not self._parts or self._parts[-1].endswith(("\n", " ", _CELL))

    def _break(self, lines: int) -> None:
        if not self._parts or self._row is not None:
            return
        end = self._parts[-1]
        have = len(end) - len(end.rstrip("\n"))
        if lines > have:
            self._parts.append("\n" * (lines - have) + ("> " if self._quotes else ""))

    def _item(self) -> None:
        self._break(1)
        depth = max(0, len(self._lists) - 1)
        number = self._lists[-1] if self._lists else None
        mark = "- " if number is None else f"{number}. "
        if number is not None:
            self._lists[-1] = number + 1
        self._parts.append("  " * depth + mark)

    def _end_link(self) -> None:
        target, start = self._links.pop()
        if start >= len(self._parts):
            return
        text = "".join(self._parts[start:]).strip()
        if not text or not target or target.startswith(("#", "javascript:", "data:")):
            return
        lead = " " if self._parts[start].startswith(" ") else ""
        self._parts[start:] = [f"{lead}[{_BLANKS.sub(' ', text)}]({urljoin(self._base, target)})"]

    def _end_row(self, start: int) -> None:
        self._row = None
        cells = "".join(self._parts[start:]).split(_CELL)[1:]
        del self._parts[start:]
        if not cells:
            return
        line = (
            "| " + " | ".join(_BLANKS.sub(" ", cell).strip().replace("|", "\\|") for cell in cells) + " |\n"
        )
        self._parts.append(line)
        if not self._header_done:
            self._parts.append("|" + " --- |" * len(cells) + "\n")
            self._header_done = True
