"""AutoGen at inventory level: agents with their system messages."""

from __future__ import annotations

import os

from bridle.dialects import pysource
from bridle.dialects.parts import Part, PartFile, Reading

_AGENTS = ("AssistantAgent", "UserProxyAgent", "ConversableAgent")
_TEXTS = ("system_message", "description")


def read(root: str, spec: str) -> Reading:
    """Agents with what they are told; everything else is listed, not mapped."""
    base = spec if os.path.isdir(spec) else os.path.dirname(spec)
    warnings: list[str] = []
    files: list[PartFile] = []
    parts: list[Part] = []
    for source in pysource.sources(base, warnings):
        for call in pysource.calls(source, *_AGENTS):
            name = call.texts.get("name") or (call.args[0] if call.args else call.name)
            text = next((call.texts[key] for key in _TEXTS if call.texts.get(key)), "")
            parts.append(
                Part(
                    file=source.path,
                    lines=f"py:{call.line}-{call.end}",
                    tag="CONFIG",
                    category="C1",
                    summary=f"Agent {name}",
                    text=text or f"You are {name}.",
                    rule="4:agent",
                )
            )
            files.append(PartFile(source.path, "C1 agents", "2:agents"))
    return Reading(
        tuple(dict.fromkeys(files)),
        tuple(parts),
        tuple(warnings),
        ("group chats, handoffs and code execution are not mapped",),
    )
