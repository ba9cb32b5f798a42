"""A fence: a tree that must not change, apart from the places in it where work goes on."""

from __future__ import annotations

import re

from msgspec import Struct
from msgspec.structs import replace

from checkrein.base.later import later
from checkrein.base.origin import BUNDLED, Origin
from checkrein.model.rule import Rule
from checkrein.policy.abstract import ANY, ONE, STAR
from checkrein.policy.paths import inside, normal, relative

_UNKNOWN = later(f"[{ANY}{ONE}{STAR}]")


class Fence(Struct, frozen=True):
    """`root` is an absolute real path. `open` are the places below it that may change, with all below them;
    `closed` are parts of those that may not. Both are relative to the root. `name` says whose fence it is."""

    root: str
    name: str
    open: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()

    def without(self, place: str) -> Fence:
        """The fence with one more place open; an empty one opens nothing."""
        below = relative(place, self.root) if place else None
        return replace(self, open=(*self.open, below)) if below else self

    def holds(self, below: str) -> bool:
        """Whether a path below the root may not change; empty for the root itself."""
        return not inside(below, self.open) or inside(below, self.closed)

    def may_hold(self, below: str) -> bool:
        """The same for a path that is only partly known. What is closed counts where it is named."""
        known = _UNKNOWN.split(below, maxsplit=1)[0]
        if known == below:
            return self.holds(below)
        return not inside(known.rpartition("/")[0], self.open)

    def shuts(self, path: str) -> bool:
        """Whether an absolute path, known or partly known, is behind the fence."""
        below = relative(normal(path), self.root)
        return below is not None and self.may_hold(below)

    @property
    def expression(self) -> str:
        """A regular expression that matches from the start of each path below the root that it holds."""
        return f"(?!{_either(self.open)})" + (f"|(?={_either(self.closed)})" if self.closed else "")

    @property
    def rule(self) -> Rule:
        """The fence as the rule that a refusal names."""
        return Rule(
            verdict="deny", text=self.name, tool="Edit", origin=Origin(BUNDLED, "bundled"), anchor=self.root
        )


def _either(places: tuple[str, ...]) -> str:
    return f"(?:{'|'.join(map(re.escape, places)) or '(?!)'})(?:/|\\Z)"
