"""Frameworks whose agents are calls in Python source: each agent's instructions, its tools by name."""

from __future__ import annotations

import os
from collections.abc import Iterator

from msgspec import Struct

from checkrein.dialects import pysource
from checkrein.dialects.parts import Part, PartFile, Reading
from checkrein.dialects.pysource import Call, Source


class Framework(Struct, frozen=True):
    """How one framework is read.

    `agents` are the calls that make an agent, `texts` the keywords that hold its instructions (the first one
    present counts); `tools` the decorators of tools; `imports` the keyword that lists modules the agent's
    code may import; `unmapped` says what is only listed.
    """

    agents: tuple[str, ...]
    texts: tuple[str, ...]
    unmapped: str
    tools: tuple[str, ...] = ()
    imports: str | None = None


def read_agents(spec: str, framework: Framework) -> Reading:
    """Agents with their instructions; everything else is listed, not mapped."""
    base = spec if os.path.isdir(spec) else os.path.dirname(spec)
    warnings: list[str] = []
    files: list[PartFile] = []
    parts: list[Part] = []
    for source in pysource.sources(base, warnings):
        calls = list(pysource.calls(source, *framework.agents))
        files += [PartFile(source.path, "C1 agents", "2:agents") for _ in calls]
        parts += [_agent(source, call, framework.texts) for call in calls]
        parts += [part for call in calls for part in _imports(source, call, framework.imports)]
        parts += [_tool(source, found.name) for found in pysource.decorated(source, *framework.tools)]
    return Reading(tuple(dict.fromkeys(files)), tuple(parts), tuple(warnings), (framework.unmapped,))


def _agent(source: Source, call: Call, texts: tuple[str, ...]) -> Part:
    name = call.texts.get("name") or (call.args[0] if call.args else call.name)
    text = next((call.texts[key] for key in texts if call.texts.get(key)), "")
    return Part(
        file=source.path,
        lines=f"py:{call.line}-{call.end}",
        tag="CONFIG",
        category="C1",
        summary=f"Agent {name}",
        text=text or f"You are {name}.",
        rule="4:agent",
    )


def _imports(source: Source, call: Call, keyword: str | None) -> Iterator[Part]:
    for module in call.names.get(keyword, ()) if keyword else ():
        yield Part(
            file=source.path,
            lines=f"py:{call.line}-{call.end}",
            tag="CONFIG",
            category="C8",
            summary=f"Authorized import {module}",
            text=f"The agent's code may import {module}.",
            rule="4:import",
        )


def _tool(source: Source, name: str) -> Part:
    return Part(
        file=source.path,
        lines=f"py:{source.path}:{name}",
        tag="TOOL_TEMPLATE",
        category="C6",
        summary=f"Tool {name}",
        text=name,
        rule="4:tool",
        row="M-06",
        tool=name,
    )
