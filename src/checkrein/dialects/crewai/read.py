"""A CrewAI project at inventory level: agents and tasks of its YAML files, tools by name."""

from __future__ import annotations

import os
from typing import Any

from checkrein.base.files import read_text
from checkrein.base.frontmatter import load_block
from checkrein.dialects import pysource
from checkrein.dialects.parts import Part, PartFile, Reading


def read(root: str, spec: str) -> Reading:
    base = spec if os.path.isdir(spec) else os.path.dirname(spec)
    warnings: list[str] = []
    files: list[PartFile] = []
    agents = _yaml(base, "agents.yaml", files, warnings)
    tasks = _yaml(base, "tasks.yaml", files, warnings)
    parts: list[Part] = []
    for file, key, line, value in agents:
        text = "\n".join(
            str(value[part]).strip() for part in ("role", "goal", "backstory") if value.get(part)
        )
        parts.append(
            Part(
                file=file,
                lines=str(line),
                tag="CONFIG",
                category="C1",
                summary=f"Agent {key}: {value.get('role', '')}",
                text=text,
                rule="4:agent",
            )
        )
    known = {key for _, key, _, _ in agents}
    gated = False
    for file, key, line, value in tasks:
        owner = value.get("agent")
        if owner and owner not in known:
            warnings.append(f"task {key} names the agent {owner}, which does not exist")
        gated = gated or bool(value.get("human_input"))
        text = "\n".join(
            str(value[part]).strip() for part in ("description", "expected_output") if value.get(part)
        )
        parts.append(
            Part(
                file=file,
                lines=str(line),
                tag="ORCHESTRATE",
                category="C2",
                summary=f"{key.replace('_', ' ')}",
                text=text or key,
                rule="4:task",
                step=True,
                modality="review_gated" if value.get("human_input") else "",
            )
        )
    for source in pysource.sources(base, warnings):
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
                    tool=function.name,
                )
            )
            files.append(PartFile(source.path, "C6 tools", "2:tools"))
    unmapped = [
        "delegation between agents is not mapped",
        "a hierarchical process runs in order",
        "flows are only listed",
    ]
    return Reading(tuple(dict.fromkeys(files)), tuple(parts), tuple(warnings), tuple(unmapped))


def _yaml(
    base: str, name: str, files: list[PartFile], warnings: list[str]
) -> list[tuple[str, str, int, dict[str, Any]]]:
    """(file, key, line, value) of every entry."""
    for folder in ("config", "src", "."):
        candidates = [os.path.join(base, folder, name)]
        if folder == "src":
            candidates = [
                os.path.join(here, name)
                for here, _, found in os.walk(os.path.join(base, "src"))
                if name in found
            ]
        for path in candidates:
            if not os.path.isfile(path):
                continue
            shown = os.path.relpath(path, base).replace(os.sep, "/")
            files.append(PartFile(shown, "C1 agents" if "agents" in name else "C2 tasks", f"2:{name}"))
            block = load_block(read_text(path, within=(base,)).text)
            if block.error is not None:
                warnings.append(f"{shown} line {block.error_line}: {block.error}")
                return []
            return [
                (shown, key, block.spans[key].line, value)
                for key, value in block.values.items()
                if isinstance(value, dict)
            ]
    return []
