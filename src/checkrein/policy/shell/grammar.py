"""The bash grammar: parsing, and the corrections before and checks after it."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Tree

from checkrein.base.later import later

_LINE_START = re.compile(rb"\n\\(?!\n)")
_CONTINUED = re.compile(rb"(?<!\\)((?:\\\\)*)\\\n")
_STRANGE = later(
    r"[\x00-\x08\x0b-\x1f\x7f\x85\xa0\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ud800-\udfff\ufeff]"
)
_LITERAL = frozenset({"comment", "raw_string", "ansi_c_string", "heredoc_body", "heredoc_content"})


@cache
def parser() -> Parser:
    import tree_sitter

    return tree_sitter.Parser(tree_sitter.Language(_bash()))


def _bash() -> Any:
    """The grammar alone. The package around it imports `importlib.resources` with tempfile, bz2 and lzma for
    files that nobody here reads, and a first command would wait for them."""
    from importlib.machinery import PathFinder
    from importlib.util import find_spec, module_from_spec

    package = find_spec("tree_sitter_bash")
    found = PathFinder.find_spec("_binding", package.submodule_search_locations) if package else None
    if found is None or found.loader is None:
        raise ModuleNotFoundError("No module named 'tree_sitter_bash'", name="tree_sitter_bash")
    binding = module_from_spec(found)
    found.loader.exec_module(binding)
    return binding.language()


_LONG = 10_000
_MAX_OPENERS = 150
_OPENERS = later(r"=\(|\(\(|<<|<>|\$\{|\(\)|;[;&]|\[\[|\$[\['\"\\]")
_TEXTS = later(r"<<-?\s*(['\"]?)(\w+)\1[^\n]*\n.*?\n\t*\2(?=\n|$)|'[^']*'", re.DOTALL)


def is_parsable(text: str) -> bool:
    """Whether the grammar reads the text in reasonable time. Its time grows with the square of the length of
    broken code, so only the contents of files and quotes may be longer."""
    if len(text) <= _LONG:
        return True
    if text.count("<<") > _MAX_OPENERS:
        return False
    code = _TEXTS.sub("", text)
    return len(code) <= _LONG and len(_OPENERS.findall(code)) <= _MAX_OPENERS


def parse(text: str) -> Tree:
    """The tree of the text with its continued lines joined."""
    source = encode(text)
    tree = parser().parse(source)
    for mark, rewrite in ((b"\\\n", _join_lines), (b"\n\\", _set_apart)):
        if mark in source:
            rewritten = rewrite(source, tree)
            if rewritten != source:
                source = rewritten
                tree = parser().parse(source)
    return tree


def _set_apart(source: bytes, tree: Tree) -> bytes:
    """Put a blank before a backslash that starts a line: the grammar misses the line end before it."""
    out: list[bytes] = []
    done = 0
    for found in _LINE_START.finditer(source):
        if not _is_text(tree.root_node, found.end() - 1, quotes=True):
            out.append(source[done : found.end() - 1] + b" ")
            done = found.end() - 1
    return b"".join([*out, source[done:]]) if out else source


def _join_lines(source: bytes, tree: Tree) -> bytes:
    """Remove each backslash at the end of a line, except where it is text: quotes and comments.

    The grammar reads such a line end as a blank, bash ignores it: `r\\<newline>m` is `rm`.
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


def has_false_comment(tree: Tree) -> bool:
    """Whether the grammar reads a comment where bash does not: for bash `}#x` is one word."""
    root = tree.root_node
    source = root.text or b""
    if b"#" not in source:
        return False
    base = root.start_byte
    pending = [root]
    while pending:
        node = pending.pop()
        before = source[node.start_byte - base - 1 : node.start_byte - base]
        if node.type == "comment" and before not in _BEFORE_COMMENT:
            return True
        if node.type != "heredoc_body":
            pending.extend(node.children)
    return False


_BEFORE_COMMENT = (b"", b" ", b"\t", b"\n", b";", b"&", b"|", b"(", b")")


def strangeness(text: str) -> str | None:
    """Characters that bash and the grammar read differently, or that hide text."""
    found = _STRANGE.search(text)
    return f"it holds the character U+{ord(found.group()):04X}" if found else None


def text_of(node: Node) -> str:
    return decode(node.text or b"")


_MARK = "\u00c0"
_DIGITS = tuple(chr(code) for code in range(0xC1, 0xFF))
_VALUES = {digit: value for value, digit in enumerate(_DIGITS)}
_FOREIGN = later(r"[^\x00-\x7f]")
_ENCODED = later(f"{_MARK}([{_DIGITS[0]}-{_DIGITS[-1]}]{{4}})")


def encode(text: str) -> bytes:
    """The text as the grammar gets it: five letters of Latin-1 for each character outside of ASCII.

    The grammar's scanner looks characters up in a table of 256 and crashes on others. For bash all of them
    are letters of a word, and so are their replacements.
    """
    return (text if text.isascii() else _FOREIGN.sub(_letters, text)).encode()


def _letters(found: re.Match[str]) -> str:
    code, digits = ord(found.group()), []
    for _ in range(4):
        code, digit = divmod(code, len(_DIGITS))
        digits.append(_DIGITS[digit])
    return _MARK + "".join(digits)


def decode(source: bytes) -> str:
    """Text of the grammar's source as the author wrote it."""
    text = source.decode("utf-8", "replace")
    return text if text.isascii() else _ENCODED.sub(_character, text)


def _character(found: re.Match[str]) -> str:
    code = 0
    for digit in reversed(found.group(1)):
        code = code * len(_DIGITS) + _VALUES[digit]
    return chr(code)


def is_list(node: Node) -> bool:
    """Whether a string is only `"$@"` or `"${A[@]}"`, which may become no field at all."""
    text = text_of(node)
    return text.endswith(('@"', '[@]}"', '@}"'))


def translates(node: Node) -> bool:
    """Whether a `$` right before a string asks for its translation: `$"..."`."""
    following = node.next_sibling
    return (
        node.text == b"$"
        and following is not None
        and following.type == "string"
        and following.start_byte == node.end_byte
    )
