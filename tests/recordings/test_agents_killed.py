"""A parent with five subagents in the background, killed with SIGKILL at a random moment, then resumed twice.

Every report that was finished is there exactly once, no subagent runs a second time, and no process is left.
A few moments by a seed; `CHECKREIN_CAMPAIGN=1` takes fifty.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from checkrein.runtime.store import SessionStore
from checkrein.testing import ScriptedServer
from support.agents import below, files, order, orders
from support.programs import CHECKREIN, marked

MANY = 5
MOMENTS = 50 if os.environ.get("CHECKREIN_CAMPAIGN") else 5
LONGEST = 1.6
ID = "00000000-0000-4000-8000-000000000019"
Frame = dict[str, Any]


def script(chance: random.Random) -> list[Frame]:
    turns: list[Frame] = []
    for number in range(MANY):
        command = f"echo {number} >> ran.log; sleep 0.0{chance.randrange(10)}"
        step = {"tool_calls": [{"name": "Bash", "input": {"command": command}}]}
        report = {"text": f"REPORT-{number}.", "delay": chance.random() * 0.6, "chunk": 2, "pace": 0.005}
        turns += below({**step, "delay": chance.random() * 0.3}, report, to=f"task-{number}.")
    parent = orders(*(order(f"task-{number}.") for number in range(MANY)))
    return [*turns, parent, {"text": "waiting", "delay": 0.1, "repeat": 0}]


def command(*more: str) -> list[str]:
    words = ("--model", "anthropic:m", "--dangerously-skip-permissions", "--output-format", "stream-json")
    return [*CHECKREIN, "-p", "go", *words, *more]


def environment(home: Path, url: str, mark: str) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "CHECKREIN_HOME": str(home / "checkrein"),
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "x",
        "CLAUDE_CODE_WORKFLOW_PREFIX_STAGGER_MS": "100",
        "MARK": mark,
    }


def kill(project: Path, home: Path, mark: str, chance: random.Random) -> None:
    """Start a session, and kill it some time after its first frame."""
    with ScriptedServer(script(chance)) as server:
        process = subprocess.Popen(
            command("--session-id", ID),
            cwd=project,
            env=environment(home, server.url, mark),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(chance.random() * LONGEST)
        os.kill(process.pid, signal.SIGKILL)
        process.stdout.close()
        process.wait()


def finished(transcript: Path) -> set[str]:
    """The reports that the transcripts have: the agents that ended well before the kill."""
    found = set()
    for path in (transcript.with_suffix("") / "subagents").glob("agent-*.jsonl"):
        lines = path.read_text("utf-8", "replace").split("\n")[:-1]
        marks = [json.loads(line).get("checkrein") or {} for line in lines if line]
        results = [mark["result"] for mark in marks if mark.get("event") == "result"]
        found |= {result["text"] for result in results if not result["is_error"]}
    return found


def known(transcript: Path) -> set[str]:
    """The agents that the parent's transcript has as started."""
    found: set[str] = set()
    for line in transcript.read_text("utf-8", "replace").split("\n")[:-1]:
        state = (json.loads(line).get("checkrein") or {}).get("state") or {}
        found |= {name.removeprefix("task:") for name in state if name.startswith("task:")}
    return found


def resume(project: Path, home: Path, mark: str) -> str:
    """What the model is told in a resumed session, which asks for nothing else."""
    with ScriptedServer(
        [*below({"text": "RAN AGAIN", "repeat": 0}), {"text": "after", "repeat": 0}]
    ) as server:
        done = subprocess.run(
            command("--resume", ID),
            cwd=project,
            env=environment(home, server.url, mark),
            capture_output=True,
            check=False,
            timeout=60,
        )
        asked = [json.loads(request.body) for request in server.requests]
    assert done.returncode == 0, done.stderr.decode()
    assert json.loads(done.stdout.splitlines()[-1])["result"] == "after"
    assert not any("WORKER" in json.dumps(one["system"]) for one in asked), "an agent ran a second time"
    return json.dumps(asked[-1]["messages"])


@pytest.mark.parametrize("seed", range(MOMENTS))
@pytest.mark.project(files(tools="Bash"))
def test_killed_with_five_agents(seed: int, project: Path, tmp_path: Path) -> None:
    chance, home = random.Random(seed), tmp_path / "home"
    home.mkdir()
    mark = f"killed-{os.getpid()}-{seed}"
    kill(project, home, mark, chance)
    limit = time.monotonic() + 5
    while marked(mark) and time.monotonic() < limit:
        time.sleep(0.05)
    assert marked(mark) == [], "processes outlive their session"
    store = SessionStore(home / "checkrein" / "projects")
    if not store.list(project):
        return
    transcript = store.find(ID, project)
    reports, agents = finished(transcript), known(transcript)
    for _ in range(2):
        told = resume(project, home, mark)
        assert {text: told.count(text) for text in reports} == dict.fromkeys(reports, 1)
        for agent in agents:
            assert told.count(f"The agent {agent} (") == 1, "its end is told once"
    ran = (project / "ran.log").read_text().split() if (project / "ran.log").exists() else []
    assert len(ran) == len(set(ran))
    assert marked(mark) == []
