"""The OpenAI Agents SDK at inventory level: agents with their instructions, function tools by name."""

from __future__ import annotations

from checkrein.dialects.parts import Reading
from checkrein.dialects.pyagents import Framework, read_agents

_FRAMEWORK = Framework(
    agents=("Agent",),
    texts=("instructions", "handoff_description"),
    tools=("function_tool",),
    unmapped="handoffs, guardrails and sessions are only listed",
)


def read(root: str, spec: str) -> Reading:
    return read_agents(spec, _FRAMEWORK)
