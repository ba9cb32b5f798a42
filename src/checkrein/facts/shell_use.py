"""How the arguments of a program name files."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Part = Literal["", "all", "rest", "first", "sources", "last"]
"""Which operands: all; all but the first; the first; all but the last; the last."""


class FileUse(Struct, frozen=True, kw_only=True):
    """`values`/`long` take values that are not files; `read_options`, `write_options` take files.

    `in_place` are the letters (or long options) that turn reading into writing. `tree` are those that
    search below a directory; `content` says that the command shows the content of files, not only names.
    """

    reads: Part = ""
    writes: Part = ""
    values: str = ""
    long: tuple[str, ...] = ()
    read_options: tuple[str, ...] = ()
    write_options: tuple[str, ...] = ()
    in_place: tuple[str, ...] = ()
    pattern_options: tuple[str, ...] = ()
    """With one of these the first operand is also a file."""
    abbreviates: bool = True
    """Long options may be shortened."""
    tree: tuple[str, ...] = ()
    always_tree: bool = False
    hidden: bool = True
    """A search goes into hidden files."""
    content: bool = True
    here: bool = False
    """Without operands it reads the current directory."""
    keyed: bool = False
    """`if=FILE of=FILE`."""
    target_options: tuple[str, ...] = ()
    """Options with the target directory; then all operands are sources."""
    program: bool = False
    """The first operand is a program, and the rest are its arguments."""
    pair_options: tuple[str, ...] = ()
    """Options with two values, a name and a file."""
    known_options: frozenset[str] = frozenset()
    """Options without a value that write no other file. With any other option it may write what it names."""
    tree_values: tuple[str, ...] = ()
    """Options with which `recurse` as the value searches below a directory."""
    follows: bool = False
    """It follows the links below a directory, or does so with one of `follow_options`."""
    follow_options: tuple[str, ...] = ()
    include_options: tuple[str, ...] = ()
    exclude_options: tuple[str, ...] = ()
    glob_options: tuple[str, ...] = ()
    type_options: tuple[str, ...] = ()
    """Options of a search that choose files by name."""
    here_options: tuple[str, ...] = ()
    """Options with which it writes a file of unknown name here."""
    config_options: tuple[str, ...] = ()
    """Options with a file of further options."""
