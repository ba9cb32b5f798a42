"""The tools that a definition of an agent leads to, before any server is connected."""

from __future__ import annotations

from checkrein.facts.subagents import DEPTH
from checkrein.model.items import Agent
from checkrein.model.view import View
from checkrein.passes.agents.agent_type import AgentType
from checkrein.passes.agents.agent_types import agent_type_of
from checkrein.passes.agents.tool_pool import Pool, canonical, pool
from checkrein.passes.checks import toolnames
from checkrein.passes.checks.check import Subject


def tools_of(item: Agent, subject: Subject) -> tuple[AgentType, Pool]:
    """Every entry for a server counts as a tool: only the server knows which it has."""
    kind = agent_type_of(item, View(subject.project))
    written = (text for text in kind.tools or () if text.startswith(toolnames.MCP_PREFIX))
    known = sorted({canonical(name) for name in toolnames.known_tools(subject)})
    mode = kind.permission_mode or "default"
    return kind, pool(kind, (*known, *written), background=kind.background, depth=1, limit=DEPTH, mode=mode)
