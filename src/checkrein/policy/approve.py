"""What approves a call, or a command in it."""

from __future__ import annotations

from msgspec import Struct

from checkrein.model.rule import Rule
from checkrein.policy.values import KernelLayer


class Approval(Struct, frozen=True):
    """A rule on the bare tool, an exact rule on the whole text, a hook, or the mode. `reads`: the command
    only reads; `later` and `layer` say what holds it to that."""

    reason: str
    rule: Rule | None = None
    reads: bool = False
    layer: KernelLayer | None = None
    later: str = ""
