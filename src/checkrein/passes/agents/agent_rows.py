"""The agents of a session as rows: what each has in effect, and what it does not get."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from checkrein.facts.subagents import AGENT_TOOL, DEPTH
from checkrein.model.view import View
from checkrein.passes.agent_row import AgentRow, Ignored
from checkrein.passes.agents.agent_type import AgentType
from checkrein.passes.agents.child_terms import child_mode, child_model
from checkrein.passes.agents.tool_pool import no_tools, of_servers, pool
from checkrein.policy.situation import Situation
from checkrein.policy.values import Call


def agent_rows(
    kinds: Iterable[AgentType], view: View, env: Mapping[str, str], parent: Situation
) -> tuple[AgentRow, ...]:
    """`parent` is the situation of the main conversation."""
    return tuple(_row(kind, view, env, parent) for kind in kinds)


def mode_without_effect(kind: AgentType, parent: str) -> str | None:
    """Why the mode of a definition does not count below a conversation in the mode `parent`."""
    mode = child_mode(parent, kind)
    if kind.permission_mode is None or mode == kind.permission_mode:
        return None
    return f"`{kind.permission_mode}` does not narrow the mode {mode} of the main conversation"


def _row(kind: AgentType, view: View, env: Mapping[str, str], parent: Situation) -> AgentRow:
    mode = child_mode(parent.mode, kind)
    servers = (*view.servers, *(one.name for one in kind.servers))
    offered = (*parent.policy.tools.names(), *of_servers(kind, servers))
    found = pool(kind, offered, background=kind.background, depth=1, limit=DEPTH, mode=mode)
    ignored = kind.ignored
    if kind.item is not None and (why := mode_without_effect(kind, parent.mode)) is not None:
        ignored += (Ignored("permissionMode", why, kind.item.where("permissionMode")),)
    start = parent.decide(Call(AGENT_TOOL, {"subagent_type": kind.name}), parent.context())
    refused = no_tools(kind, found)
    if start.verdict == "deny":
        cause = start.reason if start.origin is None else f"{start.rule} ({start.origin}) denies it"
        refused = f"The agent {kind.name} can't start: {cause}."
    return AgentRow(
        name=kind.name,
        origin=kind.origin,
        tools=found.names,
        inherits=kind.tools is None,
        without=kind.disallowed,
        unknown=found.unknown,
        denied=kind.denied,
        starts=None if kind.agents is None else tuple(sorted(kind.agents)),
        model=child_model(env, None, kind, None) or "inherit",
        mode=mode,
        ignored=ignored,
        refused=refused,
    )
