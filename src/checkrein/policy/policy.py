"""A policy: rules, mode and directories, compiled once; and the ways to make and combine policies.

A Policy is a conjunction of layers. Each layer judges a call, and the strictest verdict holds. So `meet` is
the union of the layers: associative, commutative, idempotent, and it never widens.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.origin import Scope
from checkrein.model.rule import Rule
from checkrein.policy.rules import Index
from checkrein.policy.tools import Tools, builtin_tools
from checkrein.policy.values import Mode

if TYPE_CHECKING:
    from checkrein.policy.fences import Fence

NEEDS_TRUST: tuple[Scope, ...] = ("project",)
"""Scopes whose allow rules, directories and looser modes count only in a trusted project."""

LOOSER: frozenset[Mode] = frozenset({"acceptEdits", "bypassPermissions", "auto"})


class Directory(Struct, frozen=True):
    """An additional working directory. `scope` says who named it."""

    path: str
    scope: Scope = "user"


class Layer(Struct, frozen=True, kw_only=True):
    """One set of rules with its mode. Layers are compared by value."""

    rules: tuple[Rule, ...] = ()
    mode: Mode = "default"
    mode_scope: Scope = "cli"
    directories: tuple[Directory, ...] = ()
    fences: tuple[Fence, ...] = ()


class Compiled:
    """A layer with its rules indexed, for a trusted and for an untrusted project."""

    def __init__(self, layer: Layer, tools: Tools) -> None:
        self.layer = layer
        self._tools = tools

    @cached_property
    def trusted(self) -> Index:
        return Index(self.layer.rules, self._tools, self.layer.fences)

    @cached_property
    def untrusted(self) -> Index:
        kept = (r for r in self.layer.rules if r.verdict != "allow" or r.origin.scope not in NEEDS_TRUST)
        return Index(kept, self._tools, self.layer.fences)

    def index(self, trusted: bool) -> Index:
        return self.trusted if trusted else self.untrusted

    def mode(self, trusted: bool) -> Mode:
        mode = self.layer.mode
        if not trusted and mode in LOOSER and self.layer.mode_scope in NEEDS_TRUST:
            return "default"
        return mode

    def directories(self, trusted: bool) -> tuple[str, ...]:
        return tuple(d.path for d in self.layer.directories if trusted or d.scope not in NEEDS_TRUST)


class Policy:
    """A frozen value: equal when its layers are. Made by `compile_policy`, `policy_of` and `meet`."""

    __slots__ = ("compiled", "layers", "tools")

    def __init__(self, layers: Iterable[Layer], tools: Tools | None = None) -> None:
        self.tools = tools or builtin_tools()
        self.layers = tuple(sorted(dict.fromkeys(layers), key=msgspec.json.encode))
        self.compiled = tuple(Compiled(layer, self.tools) for layer in self.layers)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Policy) and self.layers == other.layers and self.tools == other.tools

    def __hash__(self) -> int:
        return hash(self.layers)

    def __repr__(self) -> str:
        parts = ", ".join(f"{layer.mode}: {len(layer.rules)} rules" for layer in self.layers)
        return f"Policy({parts})"

    @property
    def problems(self) -> tuple[Diagnostic, ...]:
        """A Diagnostic for every rule that has no meaning."""
        return tuple(problem for one in self.compiled for problem in one.trusted.problems)


def compile_policy(
    rules: Iterable[Rule] = (),
    mode: Mode = "default",
    *,
    mode_scope: Scope = "cli",
    directories: Iterable[Directory] = (),
    tools: Tools | None = None,
) -> Policy:
    layer = Layer(
        rules=tuple(dict.fromkeys(rules)), mode=mode, mode_scope=mode_scope, directories=tuple(directories)
    )
    return Policy((layer,), tools)


def meet(parent: Policy, child: Policy) -> Policy:
    """The policy under which a call is allowed only if both allow it."""
    return Policy((*parent.layers, *child.layers), parent.tools.joined(child.tools))


def grant(policy: Policy, rules: Iterable[Rule]) -> Policy:
    """The policy with more rules in each of its own layers: a skill's `allowed-tools` for one turn.

    Grant on a session's own policy before `meet` with its parent's, never after.
    """
    extra = tuple(rules)
    return Policy(
        (msgspec.structs.replace(layer, rules=(*layer.rules, *extra)) for layer in policy.layers),
        policy.tools,
    )


def with_mode(policy: Policy, mode: Mode, scope: Scope = "cli") -> Policy:
    """The same rules in another mode, for example when the user switches it."""
    layers = (msgspec.structs.replace(layer, mode=mode, mode_scope=scope) for layer in policy.layers)
    return Policy(layers, policy.tools)
