"""The bash grammar: parsing, and what has to be put right before and checked after."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Tree

_LINE_START = re.compile(rb"\n\\(?!\n)")
_CONTINUED = re.compile(rb"(?<!\\)((?:\\\\)*)\\\n")
_STRANGE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f\x85\xa0\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff]"
)
_LITERAL = frozenset({"comment", "raw_string", "ansi_c_string", "heredoc_body", "heredoc_content"})


@cache
def parser() -> Parser:
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


def parse(text: str) -> Tree:
    """The tree of the text with its continued lines joined."""
    source = text.encode("utf-8", "surrogatepass")
    tree = parser().parse(source)
    for mark, rewrite in ((b"\\\n", _join_lines), (b"\n\\", _set_apart)):
        if mark in source:
            rewritten = rewrite(source, tree)
            if rewritten != source:
                source = rewritten
                tree = parser().parse(source)
    return tree


def _set_apart(source: bytes, tree: Tree) -> bytes:
    """Put a blank before a backslash that starts a line: the grammar overlooks the line end before one."""
    out: list[bytes] = []
    done = 0
    for found in _LINE_START.finditer(source):
        if not _is_text(tree.root_node, found.end() - 1, quotes=True):
            out.append(source[done : found.end() - 1] + b" ")
            done = found.end() - 1
    return b"".join([*out, source[done:]]) if out else source


def _join_lines(source: bytes, tree: Tree) -> bytes:
    """Take out each backslash at the end of a line, but where it is text: quotes and comments.

    The grammar takes such a line end for a blank, bash for nothing: `r\\<newline>m` is `rm`.
    """
    out: list[bytes] = []
    done = 0
    for found in _CONTINUED.finditer(source):
        start = found.end() - 2
        if not _is_text(tree.root_node, start):
            out.append(source[done:start])
            done = found.end()
    return b"".join([*out, source[done:]]) if out else source


def _is_text(root: Node, at: int, *, quotes: bool = False) -> bool:
    node = root.descendant_for_byte_range(at, at + 1)
    while node is not None:
        if quotes and node.type in ("string", "heredoc_body"):
            return True
        if node.type in _LITERAL:
            return not (node.type.startswith("heredoc") and _expands(node))
        node = node.parent
    return False


def _expands(body: Node) -> bool:
    """Whether a heredoc's delimiter is unquoted, so that bash joins lines in it."""
    parent = body.parent
    while parent is not None and parent.type != "heredoc_redirect":
        parent = parent.parent
    start = (
        next((child for child in parent.children if child.type == "heredoc_start"), None) if parent else None
    )
    return start is not None and re.fullmatch(rb"[\w.-]+", start.text or b"") is not None


def strangeness(text: str) -> str | None:
    """Characters that bash and the grammar read differently, or that hide what is written."""
    found = _STRANGE.search(text)
    return f"it holds the character U+{ord(found.group()):04X}" if found else None


def text_of(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "surrogatepass")
