"""What approves a call, or a command in it."""

from __future__ import annotations

from msgspec import Struct

from checkrein.model.rule import Rule


class Approval(Struct, frozen=True):
    """A rule on the bare tool, an exact rule on the whole text, a hook, or the mode."""

    reason: str
    rule: Rule | None = None
