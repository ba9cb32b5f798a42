"""Rewrite valid bash that the grammar can't read as text that it can, without moving a byte.

    ! { ...; }      `  { ...; }`    the group's result is inverted
    time { ...; }   `     { ...; }` `time` is a word of the grammar here; it runs the group and nothing else
    3<>file         `3>>file`       the file is read as well

Each rewrite happens only where the grammar found the word as a token, so text in quotes, comments and
heredocs stays. A text with a heredoc or an alias is not rewritten at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

Mark = Literal["negated", "timed", "read"]

_CANDIDATE = re.compile(rb"!\s+\{\s|\btime\s+(?:-p\s+)?\{\s|<>")
_MAX_ROUNDS = 16
_LONGEST = 10_000


Marks = dict[int, tuple[Mark, ...]]


def rewrite(tree: Tree) -> tuple[Tree, Marks]:
    """The tree of the rewritten text, and what its nodes (by id) mean."""
    from checkrein.policy.shell.grammar import parser

    source = tree.root_node.text or b""
    if tree.root_node.start_byte or len(source) > _LONGEST:
        return tree, {}
    if not _CANDIDATE.search(source) or b"<<" in source or b"alias" in source:
        return tree, {}
    places: dict[int, set[Mark]] = {}
    for _ in range(_MAX_ROUNDS):
        change = next(_changes(tree.root_node), None)
        if change is None:
            break
        start, new, place, mark = change
        source = source[:start] + new + source[start + len(new) :]
        places.setdefault(place, set()).add(mark)
        tree = parser().parse(source)
    return tree, dict(_marked(tree.root_node, places))


Change = tuple[int, bytes, int, Mark]
"""The position, the bytes to put there, the byte at which the marked node starts, and its mark."""


def _changes(root: Node) -> Iterator[Change]:
    pending = [root]
    while pending:
        node = pending.pop()
        if node.type == "negated_command":
            inner = node.named_children[0] if node.named_child_count == 1 else None
            if inner is not None and _starts_group(inner, 0):
                yield node.start_byte, b" ", inner.start_byte, "negated"
        elif node.type == "command":
            yield from _timed(node)
        elif node.type == "file_redirect":
            yield from _both_ways(node)
        pending.extend(node.children[::-1])


def _starts_group(command: Node, at: int) -> bool:
    """Whether the word at `at` of a command is a lone `{`, with only words before it."""
    children = command.children
    return (
        command.type == "command"
        and len(children) > at
        and children[at].text == b"{"
        and children[0].type == "command_name"
    )


def _timed(node: Node) -> Iterator[Change]:
    children = node.children
    if not children or children[0].type != "command_name" or children[0].text != b"time":
        return
    parent = node.parent
    if parent is not None and parent.type == "pipeline" and parent.children[0] != node:
        return
    at = 2 if len(children) > 1 and children[1].text == b"-p" else 1
    if _starts_group(node, at):
        start = children[at].start_byte
        yield node.start_byte, b" " * (start - node.start_byte), start, "timed"


def _both_ways(node: Node) -> Iterator[Change]:
    """`<>`: the grammar knows the `<` and rejects the `>` after it."""
    for at, child in enumerate(node.children[:-1]):
        following = node.children[at + 1]
        if child.type == "<" and following.type == "ERROR" and following.text == b">":
            behind = (node.text or b"")[following.end_byte - node.start_byte :][:1]
            if following.start_byte == child.end_byte and behind not in (b"", b"(", b"<", b">", b"&", b"|"):
                yield child.start_byte, b">>", node.start_byte, "read"


def _marked(root: Node, places: dict[int, set[Mark]]) -> Iterator[tuple[int, tuple[Mark, ...]]]:
    """The group or redirection that starts at each position."""
    pending = [root] if places else []
    while pending:
        node = pending.pop()
        marks = places.get(node.start_byte)
        if marks and node.type in _WANTED:
            yield node.id, tuple(mark for mark in _WANTED[node.type] if mark in marks)
        pending.extend(node.children)


_WANTED: dict[str, tuple[Mark, ...]] = {
    "compound_statement": ("negated", "timed"),
    "file_redirect": ("read",),
}
