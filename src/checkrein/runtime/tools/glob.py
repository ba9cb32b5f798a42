"""Glob: find files by name."""

from __future__ import annotations

import os
import re
import time
from typing import Any

from checkrein.runtime.tools import files, search
from checkrein.runtime.tools.port import ToolContext, ToolFailure, ToolOutput

MOST = 100
_WILD = re.compile(r"[*?\[{\\]")


def run(input: dict[str, Any], context: ToolContext) -> ToolOutput:
    began = time.monotonic()
    base, pattern = split(input["pattern"], input.get("path"))
    real, shown = search.place(base, context, named=base.rstrip("/") + pattern)
    if not os.path.isdir(real):
        raise ToolFailure(f"{base} is not a directory.")
    ignore = () if context.env.get("CLAUDE_CODE_GLOB_NO_IGNORE") == "false" else ("--no-ignore",)
    descriptor = files.open_directory(real, shown=base)
    try:
        done = search.run_rg(
            (
                *("--files", "--hidden", "--null", "--no-messages", f"--glob={pattern}", *ignore),
                *search.without_version_control(input["pattern"]),
            ),
            descriptor,
            real,
            context,
        )
        may = search.visible(real, context)
        names = [name for raw in done.stdout.split(b"\0") if raw and may(name := os.fsdecode(raw))]
        newest = search.newest_first(names, descriptor)[:MOST]
    finally:
        os.close(descriptor)
    found = [os.path.join(shown, name) for name in newest]
    truncated = len(names) > MOST
    text = "\n".join(found) or "No files found"
    if truncated:
        text += f"\n(the newest {MOST} of {len(names)} files; use a narrower pattern to see the others)"
    return ToolOutput(
        content=text,
        structured={
            "durationMs": int((time.monotonic() - began) * 1000),
            "numFiles": len(found),
            "filenames": found,
            "truncated": truncated,
            "totalMatches": len(names),
            "countIsComplete": not done.truncated,
        },
    )


def split(pattern: str, path: str | None) -> tuple[str, str]:
    """The directory to search and the pattern in it. Leading parts without wildcards name directories.

    A pattern without a slash matches in every directory below; one with a slash only in its own place."""
    if pattern.startswith("!"):
        raise ToolFailure("A pattern can't start with '!'.")
    *directories, name = pattern.split("/")
    if not directories:
        return path or ".", pattern
    fixed: list[str] = []
    while directories and not _WILD.search(directories[0]):
        fixed.append(directories.pop(0))
    below = "/".join(fixed) or ("/" if pattern.startswith("/") else "")
    base = below if below.startswith("~") else os.path.join(path or ".", below)
    return base, "/" + "/".join([*directories, name])
