"""What the readers of words, nodes and commands need from the walk around them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from checkrein.policy.shell.doubts import Doubts
from checkrein.policy.shell.program import Command, Word
from checkrein.policy.shell.rewrite import Marks
from checkrein.policy.shell.state import Flow, State

if TYPE_CHECKING:
    from tree_sitter import Node


class WalksWords(Protocol):
    """It walks what words run, and takes problems."""

    commands: list[Command]
    marks: Marks

    def problem(self, text: str) -> None: ...
    def substitution(self, node: Node, state: State, doubts: Doubts) -> None: ...
    def substitutions(self, node: Node, state: State, doubts: Doubts, *, quoted: bool = False) -> None: ...
    def overlooked(self, source: str, state: State, doubts: Doubts) -> None: ...
    def arithmetic(self, node: Node, state: State, doubts: Doubts) -> None: ...
    def text(self, text: str, state: State, doubts: Doubts) -> Flow: ...
    def said(self, before: int) -> str: ...


class Walks(WalksWords, Protocol):
    """It walks statements, texts and commands too, and keeps what holds for the whole text."""

    called: set[str]
    defined: dict[str, tuple[Node, State, Doubts]]
    attached: dict[int, Node]
    locals: set[str]
    exports: bool
    numbers: bool
    namerefs: bool

    def step(self, cost: int = 1) -> None: ...
    def walk(self, node: Node, state: State, doubts: Doubts) -> Flow: ...
    def inside(self, node: Node, state: State, doubts: Doubts) -> Flow: ...
    def call(self, body: Node, state: State, doubts: Doubts) -> Flow: ...
    def collect(self, run: Callable[[], Flow]) -> tuple[tuple[Command, ...], Flow]: ...
    def command(
        self, words: tuple[Word, ...], source: Node | None, state: State, doubts: Doubts, *, direct: bool
    ) -> tuple[Command | None, Flow]: ...
