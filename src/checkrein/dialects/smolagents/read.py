"""smolagents at inventory level: agents with their instructions, the imports they may use."""

from __future__ import annotations

from checkrein.dialects.parts import Reading
from checkrein.dialects.pyagents import Framework, read_agents

_FRAMEWORK = Framework(
    agents=("CodeAgent", "ToolCallingAgent"),
    texts=("instructions", "description"),
    tools=("tool",),
    imports="additional_authorized_imports",
    unmapped="tools run as stubs; code execution is not mapped",
)


def read(root: str, spec: str) -> Reading:
    return read_agents(spec, _FRAMEWORK)
