"""What is found in shell text: simple commands, with what is known of their words and redirections."""

from __future__ import annotations

from msgspec import Struct


class Word(Struct, frozen=True):
    """One word of a command after expansion; `text` may be partly unknown (see `policy.abstract`).

    `start` and `end` are its place in the source. `doubt` says why the word, though its value is known
    or harmless, needs a broad rule or an approval.
    """

    text: str
    start: int = 0
    end: int = 0
    doubt: str | None = None


class Access(Struct, frozen=True):
    """A file that is read or written: every path it can be, absolute. `shown` is how it is written."""

    paths: tuple[str, ...]
    shown: str
    tree: bool = False
    content: bool = True
    hidden: bool = True
    redirect: bool = False


class Command(Struct, frozen=True, kw_only=True):
    """One simple command, and in `inner` the commands that it runs in its turn.

    `unknown` is set when what runs can't be told: such a command is at best asked for. `opaque_code` is
    set when it is given code of another language or a file of shell code. `doubts` ask for a broad rule.
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
    """Approving what it runs approves it."""
    read_only_through: bool = False
    prefixable: bool = True
    unknown: str | None = None
    opaque_code: str | None = None
    unknown_words: bool = False
    """Has words of unknown number and content that are no variables (those that xargs adds)."""
    own: int = 0
    """How many of its words the program gets to itself, the name included; 0 when all of them were read."""
    input: str = ""
    """The text on its input, when the program gets it to itself."""

    @property
    def name(self) -> str:
        return self.words[0] if self.words else ""


class Program(Struct, frozen=True):
    """The commands of a text in order. `problems` say why not all of the text is understood."""

    commands: tuple[Command, ...]
    problems: tuple[str, ...] = ()
