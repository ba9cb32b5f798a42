"""What an agent is: its definition made whole, its tools, its mode and its model. What binds its calls, and
what `show` says of it, are in modules of their own."""

from __future__ import annotations

from checkrein.passes.agents.agent_type import AgentType
from checkrein.passes.agents.agent_types import agent_types, no_agent
from checkrein.passes.agents.builtin_agents import main_agents
from checkrein.passes.agents.child_terms import child_mode, child_model, is_file_model
from checkrein.passes.agents.tool_pool import Dropped, Pool, named, no_tools, pool

__all__ = [
    "AgentType",
    "Dropped",
    "Pool",
    "agent_types",
    "child_mode",
    "child_model",
    "is_file_model",
    "main_agents",
    "named",
    "no_agent",
    "no_tools",
    "pool",
]
