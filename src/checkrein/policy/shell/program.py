"""The content of shell text: simple commands, with what is known about their words and redirections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict, Unpack

from msgspec import Struct

from checkrein.policy.abstract import ANY, shown
from checkrein.policy.paths import join, normal


class Word(Struct, frozen=True):
    """One word of a command after expansion; `text` may be partly unknown (see `policy.abstract`).

    `start` and `end` are its place in the source. `doubt` says why the word needs a broad rule or an
    approval, although its value is known or harmless.
    """

    text: str
    start: int = 0
    end: int = 0
    doubt: str | None = None


class Access(Struct, frozen=True):
    """A file that a command reads or writes: every path it may have, absolute.

    `shown` is the text in the source.
    """

    paths: tuple[str, ...]
    shown: str
    tree: bool = False
    content: bool = True
    hidden: bool = True
    redirect: bool = False
    follows: bool = False
    """It follows the links that it finds below."""
    only: tuple[str, ...] = ()
    """Globs of names: a search reads only files with such a name."""
    skips: tuple[str, ...] = ()
    """Globs of names: a search leaves out files and directories with such a name."""
    repository: bool = False
    """Everything in the repository, from wherever the session started."""


class AccessKind(TypedDict, total=False):
    """The fields of an Access besides its paths."""

    tree: bool
    content: bool
    hidden: bool
    redirect: bool
    follows: bool
    only: tuple[str, ...]
    skips: tuple[str, ...]
    repository: bool


def access(text: str, cwds: Sequence[str], home: str, **more: Unpack[AccessKind]) -> Access:
    """A path as written, from every directory the shell may be in.

    The kernel follows links before `..`, so a path with `..` counts in both readings.
    """
    paths: dict[str, None] = {}
    for cwd in cwds:
        joined = join(text, cwd, home)
        paths[normal(joined)] = None
        if "/.." in joined and ANY not in joined:
            paths["/" + "/".join(part for part in joined.split("/") if part not in ("", "."))] = None
    return Access(tuple(paths), shown(text), **more)


class Command(Struct, frozen=True, kw_only=True):
    """One simple command, and in `inner` the commands that it runs.

    `unknown` is set when it is unknown what runs: such a command needs approval, or is denied. `opaque_code`
    is set when the command runs code of another language or a file of shell code. `doubts` need a broad rule.
    """

    words: tuple[str, ...]
    raw: str = ""
    """The source of the words, as written."""
    assigns: tuple[tuple[str, str], ...] = ()
    reads: tuple[Access, ...] = ()
    writes: tuple[Access, ...] = ()
    cwds: tuple[str, ...] = ()
    moved: bool = False
    doubts: tuple[str, ...] = ()
    inner: tuple[Command, ...] = ()
    transparent: bool = False
    """An approval of what it runs approves it too."""
    read_only_through: bool = False
    prefixable: bool = True
    unknown: str | None = None
    opaque_code: str | None = None
    unknown_words: bool = False
    """Has words of unknown number and content that are not variables (those that xargs adds)."""
    found: Access | None = None
    """Its unknown words are the names of files that a search selects, each a word."""
    own: int = 0
    """How many of its words only the program reads, the name included; 0 when all of them were read here."""
    input: str = ""
    """The text on its input, when only the program reads it."""

    @property
    def name(self) -> str:
        return self.words[0] if self.words else ""


class Program(Struct, frozen=True):
    """The commands of a text in order.

    `problems` say which parts of the text were not understood, and why.
    """

    commands: tuple[Command, ...]
    problems: tuple[str, ...] = ()
