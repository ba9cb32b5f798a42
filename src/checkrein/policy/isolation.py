"""Work in a worktree: the policy of a conversation that must leave the main checkout alone.

Rules about files of the main checkout hold for their copies in the worktree too. What they deny stays denied
in both; what they allow moves with the work.
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from checkrein.facts.tools import PATH_FAMILIES, RULE_ALIASES
from checkrein.model.rule import Rule
from checkrein.policy.fences import Fence
from checkrein.policy.paths import relative
from checkrein.policy.policy import Layer, Policy
from checkrein.policy.tools import Tools

if TYPE_CHECKING:
    from checkrein.policy.situation import Situation


class Isolation(Struct, frozen=True, kw_only=True):
    """`checkout` is where the conversation above works, `root` the directory in it that its rules start from;
    `worktree` is the copy of the checkout that this one works in. `home` is the user's without links."""

    fences: tuple[Fence, ...]
    checkout: str
    root: str
    worktree: str
    home: str = ""

    def over(self, policy: Policy, memory: str = "", home: str = "") -> Policy:
        """The policy in the worktree. `home` is what `~` means in rules. Fences of the same trees, from a
        worktree above, give way: the one above is behind the new ones. They leave the agent's own memory
        open."""
        fences = tuple(fence.without(memory) for fence in self.fences)
        homes = tuple(dict.fromkeys((home or self.home, self.home)))
        layers = (self._layer(layer, policy.tools, fences, homes) for layer in policy.layers)
        return Policy(layers, policy.tools)

    def moved(self, path: str) -> str | None:
        """The same place in the worktree; None for a path outside the checkout."""
        below = relative(path, self.checkout)
        return None if below is None else f"{self.worktree}/{below}".rstrip("/")

    def _layer(self, layer: Layer, tools: Tools, fences: tuple[Fence, ...], homes: tuple[str, ...]) -> Layer:
        rules = dict.fromkeys(
            one
            for rule in layer.rules
            for one in (rule, *(self._copies(rule, homes) if _names_files(rule, tools) else ()))
        )
        roots = {fence.root for fence in fences}
        others = (fence for fence in layer.fences if fence.root not in roots)
        return replace(layer, rules=tuple(rules), fences=(*others, *fences))

    def _copies(self, rule: Rule, homes: tuple[str, ...]) -> Iterator[Rule]:
        """A rule for the other checkout. A relative one starts from where the work is, so it is the old place
        that needs a copy."""
        spec = (rule.specifier or "").strip()
        strict = rule.verdict != "allow"
        if spec.startswith(("//", "~/")) or spec == "~":
            whole = (spec[1:],) if spec[0] == "/" else tuple(home + spec[1:] for home in homes if home)
            for below in dict.fromkeys(one for text in whole for one in self._below(text) if strict):
                yield replace(rule, specifier=f"/{below}", anchor=self.worktree)
        elif spec.startswith("/"):
            anchor = self.moved(rule.anchor or self.root)
            if anchor is not None:
                yield replace(rule, anchor=anchor)
        elif strict:
            core = spec.removeprefix("./")
            if core in ("", "."):
                core = "**"
            floats = "/" not in core.removesuffix("/**").rstrip("/") and core != "**"
            yield replace(rule, specifier=f"/**/{core}" if floats else f"/{core}", anchor=self.root)

    def _below(self, pattern: str) -> Iterator[str]:
        """What an absolute pattern means below the checkout."""
        return map("/".join, _rests(_segments(pattern), _segments(self.checkout)))


def _segments(path: str) -> tuple[str, ...]:
    return tuple(part for part in path.split("/") if part)


def _rests(pattern: tuple[str, ...], path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The rests of a pattern after each way in which its beginning matches the path. A pattern that ends on
    the way matches everything below it."""
    places = _onward(pattern, {0})
    for part in path:
        if len(pattern) in places:
            yield ("**",)
        stay = {at for at in places if pattern[at : at + 1] == ("**",)}
        step = {at + 1 for at in places - stay if at < len(pattern) and fnmatchcase(part, pattern[at])}
        places = _onward(pattern, stay | step)
    for at in sorted(places):
        yield pattern[at:] or ("**",)


def _onward(pattern: tuple[str, ...], places: set[int]) -> set[int]:
    """With the places behind each `**`, which may match nothing."""
    found = set(places)
    for at, part in enumerate(pattern):
        if at in found and part == "**":
            found.add(at + 1)
    return found


def _names_files(rule: Rule, tools: Tools) -> bool:
    tool = RULE_ALIASES.get(rule.tool, rule.tool)
    return rule.specifier is not None and (tool == "Cd" or tools.get(tool).family in PATH_FAMILIES)


def isolate(situation: Situation, isolation: Isolation) -> Situation:
    """The situation of a conversation that works in a worktree. It may read where the one above works."""
    root = isolation.moved(isolation.root) or isolation.worktree
    return replace(
        situation,
        root=root,
        add_dirs=tuple(dict.fromkeys((*situation.add_dirs, isolation.worktree, isolation.root))),
        isolation=isolation,
        trusting=None,
    )
