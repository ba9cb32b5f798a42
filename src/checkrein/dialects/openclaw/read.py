"""An OpenClaw workspace at inventory level: its Markdown files by role, and the heartbeat."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from checkrein.base.files import read_text
from checkrein.base.jsonpos import Json, decode
from checkrein.dialects.parts import Part, PartFile, Reading
from checkrein.facts.compile import Category, Tag

_FILE_CHARS = 20_000
_ROLES: dict[str, tuple[str, Tag, Category]] = {
    "SOUL.md": ("C1 identity", "CONFIG", "C1"),
    "IDENTITY.md": ("C1 identity", "CONFIG", "C1"),
    "AGENTS.md": ("C2 operating rules", "CONFIG", "C2"),
    "USER.md": ("C3 user facts", "CONFIG", "C3"),
    "TOOLS.md": ("C3 notes on tools", "CONFIG", "C3"),
    "MEMORY.md": ("C4 memory", "TOOL_INPUT", "C4"),
    "HEARTBEAT.md": ("C9 heartbeat", "ORCHESTRATE", "C9"),
}


def read(root: str, spec: str) -> Reading:
    """The workspace is the directory of the spec."""
    base = spec if os.path.isdir(spec) else os.path.dirname(spec)
    files: list[PartFile] = []
    parts: list[Part] = []
    warnings: list[str] = []
    unmapped = ["channels, cron jobs and the memory wiki are not mapped"]
    for name, (role, tag, category) in _ROLES.items():
        path = os.path.join(base, name)
        if not os.path.isfile(path):
            continue
        text = read_text(path, within=(base,)).text
        if len(text) > _FILE_CHARS:
            warnings.append(f"{name} is longer than {_FILE_CHARS} characters; OpenClaw would cut it")
        files.append(PartFile(name, role, f"2:{name}"))
        heartbeat = "heartbeat" if category == "C9" else ""
        for first, last, section in sections(text):
            parts.append(
                Part(
                    file=name,
                    lines=f"{first}-{last}",
                    tag=tag,
                    category=category,
                    summary=section.strip().split("\n", 1)[0].lstrip("# "),
                    text=section,
                    rule=f"4:{name}",
                    schedule=heartbeat,
                    modality=heartbeat,
                )
            )
    if os.path.isfile(os.path.join(base, "BOOTSTRAP.md")):
        unmapped.append("BOOTSTRAP.md is for the first start and is left out")
    parts += _heartbeat(base, files)
    return Reading(tuple(files), tuple(parts), tuple(warnings), tuple(unmapped))


def sections(text: str) -> Iterator[tuple[int, int, str]]:
    """(first line, last line, text) of every part under a heading that says anything."""
    lines = text.split("\n")
    starts = [0, *(n for n, line in enumerate(lines) if line.startswith("#") and n > 0), len(lines)]
    for first, end in pairwise(starts):
        body = "\n".join(lines[first:end]).strip()
        if any(line.strip() and not line.startswith("#") for line in lines[first:end]):
            yield first + 1, max(first + 1, end), body


def _heartbeat(base: str, files: list[PartFile]) -> Iterator[Part]:
    path = os.path.join(base, "openclaw.json")
    if not os.path.isfile(path):
        return
    files.append(PartFile("openclaw.json", "C9 scheduling", "2:openclaw.json"))
    decoded = decode(read_text(path, within=(base,)).text)
    value: Any = decoded.value if isinstance(decoded, Json) else None
    for key in ("agents", "defaults", "heartbeat"):
        value = value.get(key) if isinstance(value, dict) else None
    if isinstance(value, dict):
        every = str(value.get("every") or "unspecified")
        yield Part(
            file="openclaw.json",
            lines="json:agents.defaults.heartbeat",
            tag="ORCHESTRATE",
            category="C9",
            summary=f"Heartbeat every {every}",
            text=every,
            rule="4:heartbeat",
            schedule="heartbeat",
            cadence=every,
            modality="heartbeat",
        )
