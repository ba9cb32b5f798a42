"""Sessions killed with SIGKILL at random points, then resumed (contract 7).

Each must load, hold everything that was printed, and run no tool call twice.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from checkrein.runtime.store import SessionStore
from checkrein.testing import ScriptedServer

TURNS = 12
SESSIONS = 200 if os.environ.get("CHECKREIN_CAMPAIGN") else 16
"""The whole campaign runs with CHECKREIN_CAMPAIGN=1."""


def script() -> list[dict[str, Any]]:
    turns: list[dict[str, Any]] = []
    for number in range(TURNS):
        command = f"echo {number} >> ran.log; sleep 0.0{number % 3}"
        call = {"name": "Bash", "id": f"call_{number}", "input": {"command": command}}
        turns.append({"text": f"step {number} " + "x" * 2000, "tool_calls": [call], "chunk": 200})
    return [*turns, {"text": "done"}]


def environment(home: Path, url: str) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "CHECKREIN_HOME": str(home / "checkrein"),
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "x",
    }


def command(*more: str) -> list[str]:
    flags = [
        "-p",
        "go",
        "--model",
        "anthropic:m",
        "--dangerously-skip-permissions",
        "--output-format",
        "stream-json",
    ]
    return [sys.executable, "-m", "checkrein", *flags, "--session-id", "crash", *more]


def crash(project: Path, home: Path, after: float) -> list[dict[str, Any]]:
    """Start a session, kill it `after` seconds past its first frame; the frames that it printed whole."""
    with ScriptedServer(script()) as server:
        process = subprocess.Popen(
            command(),
            cwd=project,
            env=environment(home, server.url),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert process.stdout is not None
        first = process.stdout.readline()
        time.sleep(after)
        os.kill(process.pid, signal.SIGKILL)
        rest = process.stdout.read()
        process.wait()
    whole = [line for line in (first + rest).split(b"\n")[:-1] if line]
    return [json.loads(line) for line in whole]


def check(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    project, home = tmp_path / "project", tmp_path / "home"
    (project / ".git").mkdir(parents=True)
    home.mkdir()
    printed = crash(project, home, chance.random() * 0.5)
    ran = (project / "ran.log").read_text().split() if (project / "ran.log").exists() else []
    assert len(ran) == len(set(ran))
    store = SessionStore(home / "checkrein" / "projects")
    said = [frame for frame in printed if frame["type"] in ("assistant", "user")]
    if not said and not store.list(project):
        return
    with ScriptedServer([{"text": "after"}]) as server:
        flags = command()[:-2]
        resumed = subprocess.run(
            [*flags, "--resume", "crash"],
            cwd=project,
            env=environment(home, server.url),
            capture_output=True,
            check=False,
            timeout=30,
        )
        asked = [json.loads(request.body) for request in server.requests]
    assert resumed.returncode == 0, resumed.stderr.decode()
    lines = [json.loads(line) for line in resumed.stdout.splitlines()]
    assert lines[-1]["result"] == "after"
    transcript = (store.find("crash", project)).read_text("utf-8", "replace")
    assert [frame["uuid"] for frame in said if frame["uuid"] not in transcript] == []
    after = (project / "ran.log").read_text().split() if (project / "ran.log").exists() else []
    assert len(after) == len(set(after))
    assert set(after) <= set(map(str, range(TURNS)))
    paired(asked[0]["messages"])


def paired(messages: list[dict[str, Any]]) -> None:
    """Every call has exactly one result, in the next message; roles alternate."""
    for before, after in pairwise(messages):
        assert before["role"] != after["role"]
        calls = [block["id"] for block in before["content"] if block["type"] == "tool_use"]
        results = [block["tool_use_id"] for block in after["content"] if block["type"] == "tool_result"]
        assert calls == results


@pytest.mark.parametrize("seed", range(SESSIONS))
def test_killed_sessions_go_on(seed: int, tmp_path: Path) -> None:
    check(seed, tmp_path)
