"""A LangGraph project at inventory level: its nodes in source order, with their docstrings."""

from __future__ import annotations

import ast
import os

from checkrein.dialects import pysource
from checkrein.dialects.parts import Part, PartFile, Reading


def read(root: str, spec: str) -> Reading:
    base = spec if os.path.isdir(spec) else os.path.dirname(spec)
    warnings: list[str] = []
    files: list[PartFile] = []
    parts: list[Part] = []
    unmapped = ["edges and conditional edges are not mapped: nodes run in source order"]
    for source in pysource.sources(base, warnings):
        defined = pysource.functions(source)
        nodes = list(pysource.calls(source, "add_node"))
        for call in nodes:
            name = call.args[0] if call.args else call.texts.get("node", "node")
            function = defined.get(call.args[1] if len(call.args) > 1 else name)
            about = (ast.get_docstring(function) if function else None) or f"Do what the node {name} does."
            parts.append(
                Part(
                    file=source.path,
                    lines=f"py:{call.line}-{call.end}",
                    tag="ORCHESTRATE",
                    category="C2",
                    summary=name.replace("_", " "),
                    text=about,
                    rule="4:node",
                    step=True,
                )
            )
        if nodes:
            files.append(PartFile(source.path, "C2 graph", "2:graph"))
        for name, what in (
            ("MemorySaver", "checkpointers (C4)"),
            ("interrupt", "interrupts"),
            ("Send", "Send fan-out"),
        ):
            if next(pysource.calls(source, name), None) is not None:
                unmapped.append(f"{what} in {source.path} are only listed")
    if os.path.isfile(os.path.join(base, "langgraph.json")):
        files.append(PartFile("langgraph.json", "C8 runtime environment", "2:langgraph.json"))
    return Reading(tuple(files), tuple(parts), tuple(warnings), tuple(dict.fromkeys(unmapped)))
