"""Redirections: which files they read and write, and what they put on the input."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Unpack

from msgspec import Struct

from checkrein.policy.abstract import ANY
from checkrein.policy.shell.grammar import text_of
from checkrein.policy.shell.heredoc import heredoc_text
from checkrein.policy.shell.program import Access, AccessKind, access
from checkrein.policy.shell.state import State
from checkrein.policy.shell.words import Reader

if TYPE_CHECKING:
    from tree_sitter import Node

_TILDE_TARGET = "it writes to a path that starts with `~`"
_GLOB_TARGET = "it writes to a path with a glob in it"
_USES_HEREDOC = "it uses a heredoc"
_USES_HERESTRING = "it uses a here-string"


class Redirections(Struct):
    """Collects what the redirections of one command say."""

    reads: list[Access] = []
    writes: list[Access] = []
    doubts: list[str] = []
    stdin: str | None = None
    words: list[Node] = []
    """Words that the grammar puts in a redirection but that belong to the command."""


def accesses(text: str, state: State, **more: Unpack[AccessKind]) -> Access:
    """A path as written, resolved from every directory the shell may be in."""
    return access(text, state.cwds, state.home, **more)


def read_redirect(node: Node, reader: Reader, out: Redirections) -> None:
    """Add one `file_redirect`, `herestring_redirect` or `heredoc_redirect` to `out`."""
    if node.type == "herestring_redirect":
        out.doubts.append(_USES_HERESTRING)
        target = node.named_children[-1] if node.named_children else None
        out.stdin = reader.value(target) if target is not None else ANY
    elif node.type == "heredoc_redirect":
        _heredoc(node, reader, out)
    else:
        _file(node, reader, out)


def _file(node: Node, reader: Reader, out: Redirections) -> None:
    operator = next((child.type for child in node.children if not child.is_named), "")
    targets = [child for child in node.named_children if child.type != "file_descriptor"]
    out.words.extend(targets[1:])
    if operator.endswith("-") or not targets:
        return
    target = targets[0]
    if b"\n" in (node.text or b"")[: targets[-1].start_byte - node.start_byte]:
        reader.walker.problem("not all of it can be parsed")
    if target.type == "number" and operator in (">&", "<&"):
        return
    reader.found = []
    fields = reader.fields(target)
    text = fields[0].text if len(fields) == 1 else ANY
    if operator in (">&", "<&") and (text == "-" or text.rstrip("-").isdigit()):
        return
    written = text_of(target)
    opened = accesses(text, reader.state, redirect=True)
    out.doubts.extend(reader.found[:1])
    if operator.startswith("<"):
        out.reads.append(opened)
        out.stdin = ANY
        return
    if "read" in reader.walker.marks.get(node.id, ()):
        out.reads.append(opened)
        out.stdin = ANY
    out.writes.append(opened)
    if written.startswith("~"):
        out.doubts.append(_TILDE_TARGET)
    if target.type in ("word", "concatenation") and re.search(r"(?<!\\)[*?\[]", written):
        out.doubts.append(_GLOB_TARGET)


def _heredoc(node: Node, reader: Reader, out: Redirections) -> None:
    """The body is text on the input."""
    out.doubts.append(_USES_HEREDOC)
    out.stdin = heredoc_text(node, reader)
