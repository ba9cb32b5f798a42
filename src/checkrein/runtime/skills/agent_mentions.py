"""`@agent-NAME` and `@"NAME (agent)"` in a prompt: the user wants that agent to do the work."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from checkrein.facts.subagents import AGENT_TOOL
from checkrein.runtime.skills.mentions import mentioned

_BEFORE = "agent-"
_AFTER = " (agent)"


def agent_mentions(text: str, known: Collection[str]) -> list[str]:
    """A text for the model about each agent that a prompt names, once. A name that no agent has stays plain
    text."""
    return [
        f"The user wants the agent {name}: start it with the tool {AGENT_TOOL}, `subagent_type` {name!r}. "
        "Give it all that it needs to know. It does not see this conversation."
        for name in dict.fromkeys(_names(text))
        if name in known
    ]


def _names(text: str) -> Iterator[str]:
    for written in mentioned(text):
        if written.startswith(_BEFORE):
            yield written.removeprefix(_BEFORE)
        elif written.endswith(_AFTER):
            yield written.removesuffix(_AFTER)
