"""Work in a worktree: the policy of a conversation that must leave the main checkout alone.

Rules about files of the main checkout hold for their copies in the worktree too. What they deny stays denied
in both; what they allow moves with the work.
"""

from __future__ import annotations

from collections.abc import Iterator
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
    `worktree` is the copy of the checkout that this one works in."""

    fences: tuple[Fence, ...]
    checkout: str
    root: str
    worktree: str

    def over(self, policy: Policy, memory: str = "") -> Policy:
        """The policy in the worktree. Fences of the same trees, from a worktree above, give way: the one
        above is behind the new ones. They leave the agent's own memory open."""
        fences = tuple(fence.without(memory) for fence in self.fences)
        return Policy((self._layer(layer, policy.tools, fences) for layer in policy.layers), policy.tools)

    def moved(self, path: str) -> str | None:
        """The same place in the worktree; None for a path outside the checkout."""
        below = relative(path, self.checkout)
        return None if below is None else f"{self.worktree}/{below}".rstrip("/")

    def _layer(self, layer: Layer, tools: Tools, fences: tuple[Fence, ...]) -> Layer:
        rules = dict.fromkeys(
            one
            for rule in layer.rules
            for one in (rule, *(self._copies(rule) if _names_files(rule, tools) else ()))
        )
        roots = {fence.root for fence in fences}
        others = (fence for fence in layer.fences if fence.root not in roots)
        return replace(layer, rules=tuple(rules), fences=(*others, *fences))

    def _copies(self, rule: Rule) -> Iterator[Rule]:
        """A rule for the other checkout. A relative one starts from where the work is, so it is the old place
        that needs a copy."""
        spec = (rule.specifier or "").strip()
        strict = rule.verdict != "allow"
        if spec.startswith("//"):
            below = relative(spec[1:], self.checkout) if strict else None
            if below is not None:
                yield replace(rule, specifier=f"/{below}", anchor=self.worktree)
        elif spec.startswith("/"):
            anchor = self.moved(rule.anchor or self.root)
            if anchor is not None:
                yield replace(rule, anchor=anchor)
        elif not spec.startswith("~") and strict:
            core = spec.removeprefix("./")
            if core in ("", "."):
                core = "**"
            floats = "/" not in core.removesuffix("/**").rstrip("/") and core != "**"
            yield replace(rule, specifier=f"/**/{core}" if floats else f"/{core}", anchor=self.root)


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
