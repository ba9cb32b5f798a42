"""Walk the tree of shell text in the order of execution, and collect every simple command."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from checkrein.base.later import later
from checkrein.policy.shell.doubts import USES_ARITHMETIC, Doubts
from checkrein.policy.shell.evaluated import evaluates_again, evaluates_code
from checkrein.policy.shell.grammar import has_false_comment, is_parsable, parse, text_of
from checkrein.policy.shell.nodes import NODES, statements
from checkrein.policy.shell.program import Command, Word
from checkrein.policy.shell.rewrite import Marks, rewrite
from checkrein.policy.shell.state import Flow, State, join

if TYPE_CHECKING:
    from tree_sitter import Node, Tree


_OVERLOOKED = later(r"(?<!\\)(?:\\\\)*(?:`((?:[^`\\]|\\.)*)`?|\$\(([^)]*)\)?)", re.DOTALL)
_PAIRS = later(r"(?<!\\)`")
_BACKQUOTED = later(r"\\([$`\\])")

_MAX_STEPS = 10_000
_VARIABLES_PER_STEP = 32
_LETTERS_PER_STEP = 64
MAX_DEPTH = 24


class TooMuchError(Exception):
    """The text exceeds the limit."""


class Walker:
    """Collects commands and problems. One walker reads one text and all the texts in it."""

    def __init__(self) -> None:
        self.commands: list[Command] = []
        self.problems: dict[str, None] = {}
        self.called: set[str] = set()
        self.defined: dict[str, tuple[Node, State, Doubts]] = {}
        self.attached: dict[int, Node] = {}
        self.locals: set[str] = set()
        self.exports = False
        """`set -a`: bash exports every variable that the text sets."""
        self.numbers = False
        """The text declared a variable with computed values."""
        self.namerefs = False
        """The text declared a variable that is a reference to another one."""
        self.marks: Marks = {}
        self._trees: list[Tree] = []
        self._steps = 0
        self._depth = 0

    def problem(self, text: str) -> None:
        self.problems[text] = None

    def step(self, cost: int = 1) -> None:
        """Count work. A text that needs too much is given up."""
        self._steps += cost
        if self._steps > _MAX_STEPS:
            raise TooMuchError

    def text(self, text: str, state: State, doubts: Doubts) -> Flow:
        """Walk shell text: the whole text, or a string that another command runs."""
        self.step(1 + len(text) // _LETTERS_PER_STEP)
        if self._depth >= MAX_DEPTH or not is_parsable(text):
            raise TooMuchError
        self._depth += 1
        try:
            tree, marks = rewrite(parse(text))
            root = tree.root_node
            if marks:
                self.marks |= marks
                self._trees.append(tree)  # ids of nodes are unique only while the tree exists
            if root.has_error or has_false_comment(tree):
                self.problem("not all of it can be parsed")
            flow = self.walk(root, state, doubts)
        finally:
            self._depth -= 1
        return flow

    def call(self, body: Node, state: State, doubts: Doubts) -> Flow:
        """Walk the body of a function."""
        if self._depth >= MAX_DEPTH:
            raise TooMuchError
        self._depth += 1
        try:
            return self.walk(body, state, doubts)
        finally:
            self._depth -= 1

    def command(
        self, words: tuple[Word, ...], source: Node | None, state: State, doubts: Doubts, *, direct: bool
    ) -> tuple[Command | None, Flow]:
        """The command of these words, and the state after it."""
        from checkrein.policy.shell.simple import run

        return run(self, words, source, state, doubts, direct=direct)

    def collect(self, run: Callable[[], Flow]) -> tuple[tuple[Command, ...], Flow]:
        """What a walk finds, separate from the earlier findings."""
        outer, self.commands = self.commands, []
        try:
            flow = run()
            return tuple(self.commands), flow
        finally:
            self.commands = outer

    def walk(self, node: Node, state: State, doubts: Doubts) -> Flow:
        self.step(1 + len(state.variables) // _VARIABLES_PER_STEP)
        redirections = self.attached.pop(node.id, None) if self.attached else None
        if redirections is not None:
            from checkrein.policy.shell.simple import attach

            return attach(self, node, redirections, state, doubts)
        handler = NODES.get(node.type)
        if handler is None:
            self.problem(f"`{text_of(node)[:40]}` is not understood ({node.type})")
            return self.inside(node, state, doubts)
        return handler(self, node, state, doubts)

    def inside(self, node: Node, state: State, doubts: Doubts) -> Flow:
        """Walk the commands in a node that is not understood."""
        flow = (state, state)
        for child in node.named_children:
            if child.type in NODES or child.type in ("ERROR", "do_group", "case_item"):
                flow = self.walk(child, join(*flow), doubts)
            else:
                flow = self.inside(child, join(*flow), doubts)
        return flow

    def substitution(self, node: Node, state: State, doubts: Doubts) -> None:
        """The commands between the brackets of `$(...)`, backquotes or `<(...)`."""
        if node.children and node.children[0].type == "`":
            self._backquotes(text_of(node)[1:-1], state, doubts)
            return
        for child in node.named_children:
            if child.type in ("file_redirect", "herestring_redirect"):
                from checkrein.policy.shell.simple import redirect_only

                redirect_only(self, child, state, doubts)
        statements(self, node, state, doubts)

    def _backquotes(self, text: str, state: State, doubts: Doubts) -> None:
        """Backquotes pair by pair: the grammar joins the first of one pair and the last of another."""
        parts = _PAIRS.split(text)
        if len(parts) > 1:
            self.problem("a substitution is not understood")
        for part in parts:
            self.backquoted(part, state, doubts)

    def backquoted(self, text: str, state: State, doubts: Doubts) -> None:
        """Within backquotes bash first removes a backslash before `$`, a backquote or itself."""
        self.text(_BACKQUOTED.sub(r"\1", text), state, doubts)

    def said(self, before: int) -> str:
        """What the commands since position `before` print, where that is known."""
        texts = [
            command.input if command.name == "cat" else " ".join(command.words[1:])
            for command in self.commands[before:]
            if command.name in ("echo", "printf", "cat")
        ]
        return "\n".join(texts)

    def substitutions(self, node: Node, state: State, doubts: Doubts, *, quoted: bool = False) -> None:
        """Walk every substitution in a node. `quoted`: it is inside of double quotes."""
        self.step()
        if node.type in ("command_substitution", "process_substitution"):
            self.substitution(node, state, doubts)
        elif node.child_count:
            if evaluates_again(node, state):
                self.problem("it may evaluate text that holds code")
            quoted = quoted or node.type == "string"
            for child in node.children:
                self.substitutions(child, state, doubts, quoted=quoted)
        elif node.is_named and (quoted or node.type not in ("raw_string", "ansi_c_string", "comment")):
            text = text_of(node)
            self.overlooked(text, state, doubts)
            if node.type != "string_content" and ("<(" in text or ">(" in text):
                self.problem("a substitution is not understood")

    def overlooked(self, source: str, state: State, doubts: Doubts) -> None:
        """Walk the substitutions in text that the grammar reads as plain."""
        if "`" in source or "$(" in source:
            for found in _OVERLOOKED.finditer(source):
                self.problem("a substitution is not understood")
                self.backquoted(found.group(1) or found.group(2) or "", state, doubts)

    def arithmetic(self, node: Node, state: State, doubts: Doubts) -> None:
        """Arithmetic evaluates the values of its variables, including substitutions in subscripts."""
        self.substitutions(node, state, (*doubts, USES_ARITHMETIC))
        if evaluates_code(text_of(node), state):
            self.problem("arithmetic may evaluate text that holds code")
