"""The verdict on a call of an agent: what binds its parent, and what narrows the agent itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from checkrein.base.origin import Origin
from checkrein.facts.subagents import AGENT_TOOL, DEPTH
from checkrein.facts.tools import DEFAULT_AGENT
from checkrein.model.rule import Rule, parse_rule
from checkrein.passes.agents.agent_type import AgentType
from checkrein.passes.agents.child_terms import child_mode
from checkrein.passes.agents.tool_pool import Pool, lack, pool
from checkrein.policy.policy import Directory
from checkrein.policy.reasons import explain
from checkrein.policy.remote import PREFIX
from checkrein.policy.situation import Situation, below, known_mode
from checkrein.policy.values import Call, Context, Decision


class Bounds(Struct, frozen=True, kw_only=True):
    """An agent right below a conversation in the situation `parent`. It may work elsewhere: in a worktree."""

    kind: AgentType
    parent: Situation
    situation: Situation

    def explain(self, call: Call, links: Mapping[str, str] | None = None) -> Decision:
        """The decision on a call of the agent, with its notes."""
        context = self.situation.context(links=links)
        found = self._without_tool(call) or explain(self.situation, call, context)
        return replace(found, notes=(*found.notes, *self._notes(call, found, self.parent.context())))

    def _without_tool(self, call: Call) -> Decision | None:
        """The refusal of a tool that the agent does not have, or of an agent that it may not start."""
        kind = self.kind
        found = self._pool(call.tool, background=kind.background)
        if call.tool not in found.names:
            field, why = lack(kind, found, call.tool)
            return self._refusal(field, f"the agent {kind.name} does not have {call.tool}: {why}")
        if call.tool == AGENT_TOOL and not may_start(kind, call.input):
            listed = ", ".join(sorted(kind.agents or ()))
            return self._refusal("tools", f"the agent {kind.name} may start only these agents: {listed}")
        return None

    def _pool(self, tool: str, *, background: bool) -> Pool:
        offered = (*self.parent.policy.tools.names(), tool)
        mode = self.situation.mode
        return pool(self.kind, offered, background=background, depth=1, limit=DEPTH, mode=mode)

    def _refusal(self, field: str, reason: str) -> Decision:
        rule = None
        if field and self.kind.item is not None:
            written = self.kind.item.tools if field == "tools" else self.kind.item.disallowed_tools
            rule = f"{field}: {', '.join(written or ())}".rstrip()
        origin = place_of(self.kind, field)
        return Decision(verdict="deny", reason=reason, offered=False, rule=rule, origin=origin)

    def _notes(self, call: Call, found: Decision, context: Context) -> Iterator[str]:
        kind, root = self.kind, self.parent.root
        start = self.parent.decide(Call(AGENT_TOOL, {"subagent_type": kind.name}), context)
        if start.verdict == "deny":
            place = f" ({start.origin.beside(root)})" if start.origin is not None else ""
            yield f"The agent {kind.name} can't start: {start.rule or start.reason}{place}."
        if found.offered and call.tool not in self._pool(call.tool, background=True).names:
            yield f"In the background the agent {kind.name} does not have {call.tool}."
        wanted, mode = kind.permission_mode, self.situation.mode
        if wanted is not None and wanted != mode and found.verdict != "allow":
            place = place_of(kind, "permissionMode").beside(root)
            yield f"`permissionMode: {wanted}` ({place}) has no effect: the parent's mode is {mode}."


def bounds(
    kind: AgentType,
    parent: Situation,
    memory: Directory | None = None,
    confine: Callable[[Situation], Situation] = lambda found: found,
) -> Bounds:
    """What binds an agent that a conversation in the situation `parent` starts. `memory` is its own;
    `confine` binds it to its worktree."""
    mode = known_mode(child_mode(parent.mode, kind))
    made = below(parent, own_rules(kind, parent.root), mode, kind.hooks, memory)
    return Bounds(kind=kind, parent=parent, situation=confine(made))


def own_rules(kind: AgentType, root: str) -> list[Rule]:
    """The rules that the definition itself brings, with their place. The tools of servers that it does not
    have are denied, because the agents below it may bring servers of their own."""
    place = place_of(kind, "disallowedTools")
    of_servers = (text for text in kind.disallowed if text.startswith(PREFIX))
    return [parse_rule(text, "deny", place, anchor=root) for text in (*kind.denied, *of_servers)]


def deny_rules(kind: AgentType, root: str) -> list[Rule]:
    """All of `disallowedTools` as rules with their place: whole tools too."""
    place = place_of(kind, "disallowedTools")
    whole = [
        parse_rule(text, "deny", place, anchor=root)
        for text in kind.disallowed
        if not text.startswith(PREFIX)
    ]
    return [*whole, *own_rules(kind, root)]


def may_start(kind: AgentType, input: Mapping[str, Any]) -> bool:
    """Whether its `Agent(a, b)` lets an agent make this call of the tool Agent."""
    return kind.agents is None or input.get("subagent_type", DEFAULT_AGENT) in kind.agents


def place_of(kind: AgentType, field: str) -> Origin:
    return kind.origin if kind.item is None or not field else kind.item.where(field)
