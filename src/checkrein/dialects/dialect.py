"""What a dialect is: where one agent's files are, how to read them, how to write them.

`read` is total: any content of a file becomes source items or a Diagnostic. It sees the texts of a tree and
opens nothing itself. `write` gives files and losses and touches no disk. For every dialect with both,
`read(write(read(tree)))` equals `read(tree)` apart from the losses that `write` lists.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from checkrein.model.project import Sources

if TYPE_CHECKING:
    from checkrein.dialects.generic.written import Options, Written
    from checkrein.facts.agents import Files

Tree = Mapping[str, str]
"""Texts by path, relative to the project's directory and with forward slashes."""

Reader = Callable[[Tree, str], Sources]
"""(texts, the project's directory) to source items; paths of origins begin with the directory."""

Writer = Callable[[Sources, "Options"], "Written"]


class Dialect(Struct, frozen=True, kw_only=True):
    """`name` is what a user types. `read` or `write` is None if it does not exist yet."""

    name: str
    label: str
    files: Files
    read: Reader | None = None
    write: Writer | None = None
