"""AutoGen at inventory level: agents with their system messages."""

from __future__ import annotations

from checkrein.dialects.parts import Reading
from checkrein.dialects.pyagents import Framework, read_agents

_FRAMEWORK = Framework(
    agents=("AssistantAgent", "UserProxyAgent", "ConversableAgent"),
    texts=("system_message", "description"),
    unmapped="group chats, handoffs and code execution are not mapped",
)


def read(root: str, spec: str) -> Reading:
    return read_agents(spec, _FRAMEWORK)
