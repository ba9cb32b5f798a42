"""The prompt as a list of segments.

Order is fixed: stable (the same for every project), project (instructions, memory), session (facts about
this machine and this start), turn (what comes with one prompt). A segment never changes after it was sent; a
later segment states what has changed. So each request extends the previous one (contract 6).
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from checkrein.base.origin import Origin

Layer = Literal["stable", "project", "session", "turn"]
LAYERS: tuple[Layer, ...] = ("stable", "project", "session", "turn")


class Segment(Struct, frozen=True):
    """A part of the prompt: its layer, its name, its text, and where the text came from."""

    layer: Layer
    name: str
    text: str
    origin: Origin | None = None
    pinned: bool = False

    @property
    def tokens(self) -> int:
        return estimate_tokens(self.text)


def estimate_tokens(text: str) -> int:
    """About how many tokens a text has: four bytes each, the providers' advice for English and code."""
    return (len(text.encode("utf-8")) + 3) // 4
