"""What the reader of words needs from the walk around it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from checkrein.policy.shell.program import Command
from checkrein.policy.shell.rewrite import Marks
from checkrein.policy.shell.state import Flow, State

if TYPE_CHECKING:
    from tree_sitter import Node


class Walks(Protocol):
    """What a reader needs from the walk around it: it walks what words run, and takes problems."""

    commands: list[Command]
    marks: Marks

    def problem(self, text: str) -> None: ...
    def substitution(self, node: Node, state: State, doubts: tuple[str, ...]) -> None: ...
    def substitutions(self, node: Node, state: State, doubts: tuple[str, ...]) -> None: ...
    def overlooked(self, source: str, state: State, doubts: tuple[str, ...]) -> None: ...
    def arithmetic(self, node: Node, state: State, doubts: tuple[str, ...]) -> None: ...
    def said(self, before: int) -> str: ...
    def text(self, text: str, state: State, doubts: tuple[str, ...]) -> Flow: ...
