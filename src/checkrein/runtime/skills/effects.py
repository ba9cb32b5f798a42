"""What an invocation changes beside the conversation: for the turn, and for the session."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from checkrein.base.origin import Origin
from checkrein.facts.claude import EFFORTS
from checkrein.model.items import Hook, Invocable
from checkrein.model.rule import parse_rule
from checkrein.policy.policy import compile_policy
from checkrein.runtime.call.gate import Gate
from checkrein.runtime.session.state import State
from checkrein.runtime.skills.active import ActiveSkills
from checkrein.runtime.skills.invoke import Invocation

_NEVER_TAKEN = frozenset({"Skill", "ToolSearch", "StructuredOutput", "TodoWrite"})
"""Tools that do nothing to the world: `strict-tools` keeps them."""


class Effects:
    """Model, effort and tool rules hold until the turn ends; hooks and the text hold for the session.

    `tools` gives the names of all tools. `strict` says whether a skill's `allowed-tools` restrict. `count`
    gets the name of each loaded skill, `remember` the names of all that brought hooks.
    """

    def __init__(
        self,
        gate: Gate,
        state: State,
        active: ActiveSkills,
        add_hooks: Callable[[Sequence[Hook]], object],
        tools: Callable[[], Sequence[str]],
        strict: Callable[[], bool],
        count: Callable[[str], None] = lambda name: None,
        remember: Callable[[Sequence[str]], None] = lambda names: None,
    ) -> None:
        self._gate = gate
        self._state = state
        self._active = active
        self._add_hooks = add_hooks
        self._tools = tools
        self._strict = strict
        self._count = count
        self._remember = remember
        self._hooked: list[str] = []

    def apply(self, invocation: Invocation) -> None:
        item = invocation.item
        self._active.note(invocation)
        self._count(item.name)
        if self._hook(item):
            self._remember(self._hooked)
        if invocation.disallow:
            origin = item.where("disallowed-tools")
            self._gate.grant_for_turn([parse_rule(text, "deny", origin) for text in invocation.disallow])
        if invocation.model is not None:
            self._state.turn_model = invocation.model
        if invocation.effort in EFFORTS:
            self._state.turn_effort = invocation.effort
        if invocation.allow and self._strict():
            self._state.turn_grants[item.name] = invocation.allow
            self._restrict(item.where("allowed-tools"))

    def restore(self, items: Iterable[Invocable]) -> None:
        """Activate the hooks of skills that an earlier process of the session loaded."""
        for item in items:
            self._hook(item)

    def _hook(self, item: Invocable) -> bool:
        """Whether this adds hooks that were not active before."""
        if not item.hooks or item.name in self._hooked:
            return False
        self._hooked.append(item.name)
        self._add_hooks(item.hooks)
        return True

    def _restrict(self, origin: Origin) -> None:
        """Allow only what the turn's skills name, all of them together."""
        allowed = [rule for rules in self._state.turn_grants.values() for rule in rules]
        named = {rule.tool for rule in allowed} | _NEVER_TAKEN
        others = [parse_rule(name, "deny", origin) for name in self._tools() if name not in named]
        self._gate.restrict_turn(
            compile_policy([*allowed, *others], "dontAsk", tools=self._gate.policy.tools)
        )
