"""What compile takes a piece of text for, with what confidence, and why."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from checkrein.facts.compile import Category, Tag

Rough = Literal["rule", "check", "constant", "tool_ref", "schema", "prose", "other"]


class Judgment(Struct, frozen=True, gc=False):
    """`confidence` is 0.8 and more when the structure decides, 0.7 when a heading or a word does, and less
    when only the mood of the sentence does."""

    tag: Tag
    category: Category
    rough: Rough
    confidence: float
    why: str
