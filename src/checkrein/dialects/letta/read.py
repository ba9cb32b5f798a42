"""A Letta agent file at inventory level: memory blocks, tools, environment names."""

from __future__ import annotations

import os

from msgspec.structs import replace

from checkrein.base.files import read_text
from checkrein.base.jsonpos import Json, decode
from checkrein.dialects.parts import Part, PartFile, Reading
from checkrein.facts.compile import Category

_BLOCK_CHARS = 2_000


def read(root: str, spec: str) -> Reading:
    """`spec` is the `.af` file, or a directory that holds one."""
    path = spec
    if os.path.isdir(spec):
        found = sorted(name for name in os.listdir(spec) if name.endswith(".af"))
        if not found:
            return Reading(warnings=("there is no `.af` file",))
        path = os.path.join(spec, found[0])
    name = os.path.basename(path)
    decoded = decode(read_text(path, within=(root,)).text)
    if not isinstance(decoded, Json) or not isinstance(decoded.value, dict):
        return Reading(warnings=(f"{name} is not a JSON object",))
    value = decoded.value
    agents = value.get("agents")
    prefix = ""
    if isinstance(agents, list) and agents and isinstance(agents[0], dict):
        value, prefix = agents[0], "agents[0]."
    parts: list[Part] = []
    unmapped = ["messages are left out", "archival memory, sources and groups are not mapped"]
    warnings: list[str] = []
    for key in ("agent_type", "core_memory"):
        if key not in value and not (key == "core_memory" and "memory_blocks" in value):
            warnings.append(f"{name} has no `{key}`")
    if isinstance(value.get("system"), str):
        parts.append(_part(name, f"{prefix}system", "C1", "System prompt", value["system"]))
    blocks = value.get("core_memory") or value.get("memory_blocks")
    listed = blocks if isinstance(blocks, list) else [blocks] if isinstance(blocks, dict) else []
    for index, block in enumerate(listed):
        if not isinstance(block, dict) or not isinstance(block.get("value"), str):
            continue
        label = str(block.get("label") or "block")
        if len(block["value"]) > _BLOCK_CHARS:
            warnings.append(f"block {label} is longer than {_BLOCK_CHARS} characters")
        category: Category = "C1" if label == "persona" else "C3"
        parts.append(_part(name, f"{prefix}core_memory[{index}]", category, f"Block {label}", block["value"]))
    for index, tool in enumerate(value.get("tools") or []):
        if isinstance(tool, dict) and tool.get("name"):
            parts.append(_tool(name, f"{prefix}tools[{index}]", str(tool["name"])))
    variables = value.get("tool_exec_environment_variables")
    for index, variable in enumerate(variables if isinstance(variables, list) else []):
        if isinstance(variable, dict) and variable.get("key"):
            key = str(variable["key"])
            parts.append(
                Part(
                    file=name,
                    lines=f"json:{prefix}tool_exec_environment_variables[{index}]",
                    tag="TOOL_INPUT",
                    category="C7",
                    summary=f"Environment variable {key}",
                    text=key,
                    rule="4:env",
                    signal=f"env:{key}",
                    row="M-29",
                )
            )
    if value.get("enable_sleeptime"):
        unmapped.append("sleep-time agents run by steps, not by a clock; the schedule is left to the host")
    kind = str(value.get("agent_type") or "")
    if parts:
        modality = "realtime_media" if "voice" in kind else "conversational_session"
        parts[0] = replace(parts[0], modality=modality)
    return Reading(
        (PartFile(name, "C1, C3, C6, C7", "2:agent_file"),), tuple(parts), tuple(warnings), tuple(unmapped)
    )


def _part(file: str, path: str, category: Category, summary: str, text: str) -> Part:
    return Part(
        file=file,
        lines=f"json:{path}",
        tag="CONFIG",
        category=category,
        summary=summary,
        text=text,
        rule="4:block",
    )


def _tool(file: str, path: str, name: str) -> Part:
    return Part(
        file=file,
        lines=f"json:{path}",
        tag="TOOL_TEMPLATE",
        category="C6",
        summary=f"Tool {name}",
        text=name,
        rule="4:tool",
        row="M-06",
        tool=name,
    )
