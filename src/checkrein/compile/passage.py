"""A line of prose with what is around it."""

from __future__ import annotations

from msgspec import Struct

from checkrein.compile import grammar
from checkrein.compile.blocks import Block, inner, plain
from checkrein.compile.headings import role_of, role_under, roles_above
from checkrein.facts.compile_headings import Role


class Passage(Struct, frozen=True, gc=False):
    """A line with what is around it. `role` is that of its key or of the headings above, `above` has all
    their roles; `delivers` says that the spec is for writing a text."""

    block: Block
    text: str
    clean: str
    line: grammar.Line
    role: Role | None
    above: frozenset[Role]
    delivers: bool

    @property
    def item(self) -> bool:
        return self.block.kind == "item"

    @property
    def first_sentence(self) -> str:
        return self.clean.split(". ")[0]


def read_line(block: Block, delivers: bool) -> Passage:
    text = inner(block) if block.kind == "item" else block.text
    line = grammar.parts(text)
    return Passage(block, text, plain(text), line, _role(block, line), roles_above(block.path), delivers)


def _role(block: Block, line: grammar.Line) -> Role | None:
    """A key gives the role of its paragraph, like a heading. But `Purpose: ...` inside a section is not the
    skill's purpose, and a principle that says what to do is a rule."""
    above = role_under(block.path)
    own = None if block.kind == "item" else role_of(line.key)
    if own not in ("identity", "purpose") or not block.path:
        return own or above
    return None if grammar.leading_verb(line.rest) is not None else above
