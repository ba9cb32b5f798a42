"""One call of a tool from outside: hooks hear of it, and the session store keeps it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from checkrein.base.errors import PolicyError
from checkrein.protocol.machine.execute import exec_tool
from checkrein.protocol.machine.setup import Setup

HEAR = {"matcher": "*", "hooks": [{"type": "command", "command": "cat >> heard"}]}

pytestmark = pytest.mark.project(
    {
        ".claude/settings.json": {"permissions": {"deny": ["Read(.env)"]}, "hooks": {"PreToolUse": [HEAR]}},
        "a.txt": "hello",
        ".env": "TOKEN=x",
    }
)


def kept() -> list[dict[str, Any]]:
    found = Path(os.environ["CHECKREIN_HOME"]).rglob("*.jsonl")
    marks = (json.loads(line).get("checkrein") for path in found for line in path.read_text().splitlines())
    return [mark for mark in marks if mark and mark.get("event") == "call"]


def test_hooks_and_transcript_have_the_call(project: Path) -> None:
    done, _ = exec_tool("Read", '{"file_path": "a.txt"}', Setup(project=str(project), trust=True), None, 1.0)
    assert "hello" in done.output
    assert "a.txt" in (project / "heard").read_text()
    (mark,) = kept()
    assert (mark["name"], mark["caller"], mark["verdict"]) == ("Read", "program", "allow")


def test_a_refusal_is_kept_too(project: Path) -> None:
    with pytest.raises(PolicyError):
        exec_tool("Read", '{"file_path": ".env"}', Setup(project=str(project), trust=True), None, 1.0)
    (mark,) = kept()
    assert (mark["verdict"], mark["is_error"]) == ("deny", True)
