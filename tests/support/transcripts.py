"""Transcripts of a test, in the form of the product."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file"
    " edit, the new_string was NOT written to the file)."
)


def exchange(
    id: str, tool: str, input: object, result: Any = "ok", *, cwd: str = ""
) -> Iterator[dict[str, Any]]:
    """The entries of a call and of its result; a result None leaves the call open."""
    shared = {"sessionId": "s", "cwd": cwd}
    call = {"type": "tool_use", "id": id, "name": tool, "input": input}
    yield {
        "type": "assistant",
        "uuid": f"a-{id}",
        **shared,
        "message": {"role": "assistant", "content": [call]},
    }
    if result is None:
        return
    refused = result == REJECTED or str(result).startswith(("Refused", "Permission"))
    answer = {"type": "tool_result", "tool_use_id": id, "content": result, "is_error": refused}
    yield {"type": "user", "uuid": f"u-{id}", **shared, "message": {"role": "user", "content": [answer]}}


def bash(id: str, command: str, result: Any = "ok", *, cwd: str = "") -> Iterator[dict[str, Any]]:
    return exchange(id, "Bash", {"command": command}, result, cwd=cwd)


def write_transcript(path: Path, *exchanges: Iterator[dict[str, Any]], end: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(entry) for one in exchanges for entry in one]
    path.write_text("".join(f"{line}\n" for line in lines) + end, "utf-8")
    return path
