"""Heredocs. The grammar misreads their bodies, so this module cuts them out of the source by line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from checkrein.base.later import later
from checkrein.policy.abstract import ANY, SENTINELS
from checkrein.policy.shell.grammar import parse, text_of
from checkrein.policy.shell.words import Reader

if TYPE_CHECKING:
    from tree_sitter import Node

_DELIMITER = later(r"[\w.+-]+|'[^'\n]*'|\"[^\"\n$`\\]*\"|\\[\w.-]+")
_OPENERS = later(r"\\.|\$\(|\$\{|`|\"", re.DOTALL)
UNREAD = "Checkrein can't read a heredoc"


_HEREDOC = later(r"\$\(cat <<[ \t]*(['\"])(\w+)\1\n(.*\n)?\2\n?[ \t]*\)", re.DOTALL)
"""`$(cat <<'EOF' ... EOF)`: the text between, letter by letter."""


def printed(source: str) -> str | None:
    """The text of a heredoc that a substitution prints and nothing changes."""
    found = _HEREDOC.fullmatch(source)
    body = (found[3] or "") if found else ""
    if found is None or f"\n{found[2]}\n" in f"\n{body}" or SENTINELS.search(body):
        return None
    return body.rstrip("\n")


def heredoc_text(node: Node, reader: Reader) -> str:
    """What the heredoc puts on the input. It is partly unknown where bash would expand it."""
    start = next((child for child in node.children if child.type == "heredoc_start"), None)
    delimiter = text_of(start) if start is not None else ""
    body = _body(node, delimiter)
    crosses = any(_crosses(child, node) for child in node.children)
    if body is None or start is None or crosses or _runs_on(node, start):
        reader.walker.problem(UNREAD)
    if body is None:
        return ANY
    return body if delimiter[:1] in "'\"\\" else _expanded(body, reader)


def _runs_on(node: Node, start: Node) -> bool:
    """Whether the delimiter is longer than the grammar reads it: `'E'x`."""
    following = (node.text or b"")[start.end_byte - node.start_byte :][:1]
    return following not in (b"", b" ", b"\t", b"\n", b";", b"|", b"&", b"<", b">", b")")


def on_first_line(child: Node, node: Node) -> bool:
    """Whether a child is on the line of the `<<`. Later lines are text, even if the grammar disagrees."""
    return child.end_byte <= _first_line_end(node)


def _first_line_end(node: Node) -> int:
    """Searches the text: points of the binding (`end_point`) damage memory when rows are large."""
    at = (node.text or b"").find(b"\n")
    return node.end_byte if at < 0 else node.start_byte + at


def _crosses(child: Node, node: Node) -> bool:
    """Whether a child that belongs to the command goes on past the first line."""
    end = _first_line_end(node)
    if child.type.startswith("heredoc") or child.start_byte >= end:
        return False
    return child.end_byte > end


def _body(node: Node, delimiter: str) -> str | None:
    if not _DELIMITER.fullmatch(delimiter):
        return None
    name = delimiter.strip("'\"").lstrip("\\")
    indented = any(child.type == "<<-" for child in node.children)
    _, newline, rest = text_of(node).partition("\n")
    lines = rest.split("\n") if newline else []
    bare = [line.lstrip("\t") if indented else line for line in lines]
    if name not in bare or bare.index(name) != len(bare) - 1:
        return None
    return "".join(f"{line}\n" for line in bare[:-1])


def _expanded(body: str, reader: Reader) -> str:
    """The body as a double-quoted string. Quotes in it are letters, except in substitutions."""
    if not any(char in body for char in "$`\\"):
        return body
    tree = parse(f'echo "{_escaped(body)}"')
    command = tree.root_node.named_children[0] if tree.root_node.named_child_count == 1 else None
    strings = (
        [child for child in command.named_children if child.type == "string"] if command is not None else []
    )
    if tree.root_node.has_error or command is None or len(strings) != 1 or command.named_child_count != 2:
        reader.walker.problem(UNREAD)
        reader.walker.text(f": {body}", reader.state, reader.doubts)
        return ANY
    return reader.value(strings[0])


def _escaped(body: str) -> str:
    out: list[str] = []
    at = 0
    while found := _OPENERS.search(body, at):
        out.append(body[at : found.start()])
        opener = found.group()
        at = found.end()
        if opener == '"':
            out.append('\\"')
        elif opener.startswith("\\"):
            out.append(opener if opener != '\\"' else '\\\\\\"')
        else:
            at = _closing(body, found.end(), {"$(": ")", "${": "}", "`": "`"}[opener], opener[-1])
            out.append(body[found.start() : at])
    out.append(body[at:])
    return "".join(out)


def _closing(body: str, at: int, closer: str, opener: str) -> int:
    """The position after the bracket that ends a substitution."""
    depth = 1
    while at < len(body) and depth:
        char = body[at]
        if char == "\\":
            at += 1
        elif char == closer:
            depth -= 1
        elif char == opener and opener != "`":
            depth += 1
        at += 1
    return at
