"""A command about to run, and what else happens when it does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from checkrein.base.later import later
from checkrein.facts.shell_wrappers import OTHER_DIALECT as _OTHER_DIALECT
from checkrein.policy.abstract import ANY
from checkrein.policy.shell.doubts import Doubts
from checkrein.policy.shell.program import Command, Word
from checkrein.policy.shell.state import Flow, State
from checkrein.policy.shell.walks import Walks

if TYPE_CHECKING:
    from tree_sitter import Node

OTHER_DIALECT = later(_OTHER_DIALECT)
_STREAMS = ("/dev/stdin", "/dev/fd/", "/proc/self/fd/", "/dev/tty")
UNKNOWN_CODE = "it is unknown what it runs"


class Found(Struct, frozen=True, kw_only=True):
    """What else happens when a command runs. See `Command` for the fields."""

    inner: tuple[Command, ...] = ()
    transparent: bool = False
    read_only: bool = False
    prefixable: bool = True
    unknown: str | None = None
    opaque: str | None = None
    unknown_words: bool = False
    own: int = 0
    flow: Flow | None = None


class Running(Struct, frozen=True):
    """A command whose inner commands are about to be found."""

    walker: Walks
    words: tuple[Word, ...]
    source: Node | None
    state: State
    doubts: Doubts

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(word.text for word in self.words)

    def text(self, text: str, state: State | None = None) -> tuple[tuple[Command, ...], Flow]:
        """The commands in a string that a shell gets."""
        return self.walker.collect(lambda: self.walker.text(text, state or self.state, self.doubts))

    def sh(self, text: str, state: State | None = None) -> tuple[Command, ...]:
        """The commands in a string that another program gives to `sh`."""
        if OTHER_DIALECT.search(text):
            self.walker.problem("another shell reads it by its own rules")
        return self.text(text, (state or self.state).child())[0]

    def argv(self, words: Sequence[Word], *, direct: bool = True) -> tuple[Command, ...]:
        """The command made of other words. `direct`: functions and aliases do not count."""
        return self.argv_flow(words, direct=direct)[0]

    def argv_flow(self, words: Sequence[Word], *, direct: bool) -> tuple[tuple[Command, ...], Flow]:
        def walk() -> Flow:
            made, flow = self.walker.command(
                tuple(words), self.source, self.state, self.doubts, direct=direct
            )
            if made is not None:
                self.walker.commands.append(made)
            return flow

        return self.walker.collect(walk)


def parameters(texts: Sequence[str]) -> tuple[str, ...] | None:
    """Positional parameters. A word that may be several words makes all of them unknown."""
    return None if any(ANY in text for text in texts) else tuple(texts)


def is_stream(path: str) -> bool:
    """Whether a path names the input, or the pipe of a process substitution."""
    return path == "-" or path.startswith(_STREAMS)
