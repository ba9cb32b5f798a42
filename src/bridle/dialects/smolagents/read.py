"""smolagents at inventory level: agents with their instructions, the imports they may use."""

from __future__ import annotations

import os

from bridle.dialects import pysource
from bridle.dialects.parts import Part, PartFile, Reading

_AGENTS = ("CodeAgent", "ToolCallingAgent")
_TEXTS = ("instructions", "description")


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
        for call in pysource.calls(source, *_AGENTS):
            for module in call.names.get("additional_authorized_imports", ()):
                parts.append(
                    Part(
                        file=source.path,
                        lines=f"py:{call.line}-{call.end}",
                        tag="CONFIG",
                        category="C8",
                        summary=f"Authorized import {module}",
                        text=f"The agent's code may import {module}.",
                        rule="4:import",
                    )
                )
        for function in pysource.decorated(source, "tool"):
            parts.append(
                Part(
                    file=source.path,
                    lines=f"py:{source.path}:{function.name}",
                    tag="TOOL_TEMPLATE",
                    category="C6",
                    summary=f"Tool {function.name}",
                    text=function.name,
                    rule="4:tool",
                    row="M-06",
                    details={"tool": function.name, "specifier": None},
                )
            )
    return Reading(
        tuple(dict.fromkeys(files)),
        tuple(parts),
        tuple(warnings),
        ("tools run as stubs; code execution is not mapped",),
    )
