"""The real SDK for TypeScript drives Checkrein: functions of the program, requests, resume, fork, abort."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from conformance.sdk_stage import COMMAND, Stage, calls
from support.node_packages import node_modules

PACKAGE = "@anthropic-ai/claude-agent-sdk"
VERSION = "0.3.326"
PROGRAM = Path(__file__).parent / "data" / "typescript" / "program.mjs"
SLEEP = calls("Bash", {"command": "sleep 60", "description": "x"}, text="")


@pytest.mark.node
def test_a_program_in_typescript(stage: Stage) -> None:
    library = Path(PACKAGE, "sdk.mjs")
    modules = node_modules(
        "typescript-sdk", (f"{PACKAGE}@{VERSION}",), (str(library),), "--legacy-peer-deps", "--omit=optional"
    )
    turns = [
        calls("mcp__own__ping", {}),
        calls("Bash", {"command": "touch asked", "description": "x"}),
        {"text": "first"},
        SLEEP,
        {"text": "last", "expect": {"model": "claude-mock-2"}},
        {"text": "forked"},
        SLEEP,
    ]
    with stage.model(turns):
        env = {**os.environ, **stage.options().env}
        done = subprocess.run(
            ["node", PROGRAM, str(modules / library), COMMAND, str(stage.project)],
            env=env,
            capture_output=True,
            text=True,
            check=False,
            timeout=100,
        )
    assert done.returncode == 0, done.stderr
    saw = json.loads(done.stdout)
    assert saw["called"] == ["tool", "hook Bash", "permission Bash true"]
    assert [path.name for path in stage.project.iterdir()] == ["changed"]
    assert saw["receipt"] == {"still_queued": []}
    assert saw["cut"] == ["error_during_execution", True]
    assert saw["init"] == ["claude-mock-2", "acceptEdits"]
    assert (saw["first"], saw["last"], saw["fork"]) == ("first", "last", ["forked", True])
    assert "aborted" in saw["aborted"]
    requests = saw["requests"]
    assert "general-purpose" in requests.pop("agents")
    assert requests.pop("usage") >= 0
    assert requests.pop("missing") == "There is no task 'none'."
    same = {"servers": [], "skills": [], "plugins": [], "styles": ["default"]}
    assert requests == {"commands": True, "models": True, "context": True, "again": True, **same}
