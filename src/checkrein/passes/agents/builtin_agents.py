"""The agents that come with Checkrein. The text of each is in the Markdown file with its name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from checkrein.base.origin import BUNDLED, Origin
from checkrein.facts import subagents
from checkrein.facts.tools import DEFAULT_AGENT
from checkrein.passes.agents.agent_type import AgentType

_DESCRIPTIONS = {
    DEFAULT_AGENT: "Does a task of several steps on its own: searches, research, changes. "
    "Use it when no other agent fits.",
    subagents.EXPLORE: "Searches a codebase and answers questions about it, without changes. Say how "
    "thorough it should be: quick, medium or very thorough.",
    subagents.PLAN: "Plans how to implement something: reads the code, weighs designs, and returns steps and "
    "the files that matter. It changes nothing.",
}
_COORDINATOR = "Plans work, gives it to teammates, and brings their results together. For `--agent` only."
_READERS = (subagents.EXPLORE, subagents.PLAN)


def builtin_agents(env: Mapping[str, str], *, interactive: bool) -> tuple[AgentType, ...]:
    """Those that the environment leaves on."""
    if not interactive and subagents.is_on(env, subagents.ENV_NO_BUILTIN):
        return ()
    off = _READERS if subagents.is_on(env, subagents.ENV_NO_EXPLORE_PLAN) else ()
    return tuple(_builtin(name) for name in _DESCRIPTIONS if name not in off)


def main_agents(env: Mapping[str, str], *, interactive: bool) -> dict[str, AgentType]:
    """Those that only a main conversation can be."""
    if not interactive and subagents.is_on(env, subagents.ENV_NO_BUILTIN):
        return {}
    return {subagents.COORDINATOR: _coordinator()}


@cache
def _coordinator() -> AgentType:
    return AgentType(
        name=subagents.COORDINATOR,
        description=_COORDINATOR,
        body=_text(subagents.COORDINATOR),
        origin=Origin(BUNDLED, "bundled"),
    )


def _text(name: str) -> str:
    return Path(__file__).with_name(f"{name}.md").read_text("utf-8").strip()


@cache
def _builtin(name: str) -> AgentType:
    reads = name in _READERS
    return AgentType(
        name=name,
        description=_DESCRIPTIONS[name],
        body=_text(name),
        tools=subagents.READING_TOOLS if reads else None,
        lean=reads,
        one_shot=reads,
        origin=Origin(BUNDLED, "bundled"),
    )
