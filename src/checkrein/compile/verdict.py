"""What a piece of text is taken for, how surely, and why."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from checkrein.facts.compile import Category, Tag

Rough = Literal["rule", "check", "constant", "tool_ref", "schema", "prose", "other"]


class Verdict(Struct, frozen=True, gc=False):
    """`confidence` is 0.8 and more where the structure says it, 0.7 where a heading or a word does, and less
    where nothing but the mood of the sentence speaks."""

    tag: Tag
    category: Category
    rough: Rough
    confidence: float
    why: str
