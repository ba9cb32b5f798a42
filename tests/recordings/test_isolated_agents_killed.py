"""A parent with four agents in worktrees, killed with SIGKILL at a random moment, then resumed twice.

No process is left. A worktree with work in it stays and is named once, an empty one goes; `worktree clean`
finds the ones of which no transcript knew yet. No agent runs a second time, and the main checkout is
as it was. A few moments by a seed; `CHECKREIN_CAMPAIGN=1` takes fifty.
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
from support.agents import below, definition, order, orders
from support.programs import CHECKREIN, marked
from support.repositories import git, make_repository

MANY = 4
MOMENTS = 50 if os.environ.get("CHECKREIN_CAMPAIGN") else 3
LONGEST = 2.5
ID = "00000000-0000-4000-8000-000000000020"
Frame = dict[str, Any]


def script(chance: random.Random) -> list[Frame]:
    """Every second agent leaves a file in its worktree; each third one commits it."""
    turns: list[Frame] = []
    for number in range(MANY):
        work = f"echo {number} >> {{}}/ran.log; " + (f"echo w > work-{number}; " if number % 2 else "")
        work += "git add -A && git commit -qm work; " if number % 3 == 0 else ""
        step = {"tool_calls": [{"name": "Bash", "input": {"command": work + "sleep 0.05"}}]}
        report = {"text": f"REPORT-{number}.", "delay": chance.random() * 0.5}
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
        "CLAUDE_CODE_WORKFLOW_PREFIX_STAGGER_MS": "1",
        "MARK": mark,
    }


def logged(turns: list[Frame], place: Path) -> list[Frame]:
    """The script with the place where each agent notes that it ran: outside the repository."""
    return json.loads(json.dumps(turns).replace("{}/ran.log", f"{place}/ran.log"))  # type: ignore[no-any-return]


def kill(project: Path, home: Path, mark: str, chance: random.Random) -> None:
    with ScriptedServer(logged(script(chance), home)) as server:
        process = subprocess.Popen(
            command("--session-id", ID, "--add-dir", str(home)),
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


def resume(project: Path, home: Path, mark: str) -> str:
    again = [*below({"text": "RAN AGAIN", "repeat": 0}), {"text": "after", "repeat": 0}]
    with ScriptedServer(again) as server:
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
    assert not any("WORKER" in json.dumps(one["system"]) for one in asked), "an agent ran a second time"
    return json.dumps(asked[-1]["messages"])


def started(transcript: Path) -> dict[str, dict[str, Any]]:
    """The agents that the parent's transcript has, as it knew them last."""
    found: dict[str, dict[str, Any]] = {}
    for line in transcript.read_text("utf-8", "replace").split("\n")[:-1]:
        state = (json.loads(line).get("checkrein") or {}).get("state") or {}
        found |= {key.removeprefix("task:"): one for key, one in state.items() if key.startswith("task:")}
    return found


def worktrees(project: Path) -> dict[str, bool]:
    """Each worktree, and whether there is work in it."""
    place = project / ".claude/worktrees"
    found = {}
    for path in sorted(place.iterdir()) if place.exists() else ():
        dirty = git(path, "status", "--porcelain") != ""
        ahead = git(path, "rev-list", "--count", "main..HEAD") != "0"
        found[path.name] = dirty or ahead
    return found


@pytest.mark.parametrize("seed", range(MOMENTS))
def test_killed_with_agents_in_worktrees(seed: int, tmp_path: Path) -> None:
    chance, home = random.Random(seed), tmp_path / "home"
    home.mkdir()
    project = make_repository(tmp_path / "project")
    (project / ".claude/agents").mkdir(parents=True)
    (project / ".claude/agents/worker.md").write_text(definition(tools="Bash", isolation="worktree"))
    git(project, "add", "-A")
    git(project, "commit", "-qm", "agent")
    head = git(project, "rev-parse", "HEAD")
    mark = f"isolated-{os.getpid()}-{seed}"
    kill(project, home, mark, chance)
    limit = time.monotonic() + 20
    while marked(mark) and time.monotonic() < limit:
        time.sleep(0.05)
    assert marked(mark) == [], "processes outlive their session"
    store = SessionStore(home / "checkrein" / "projects")
    if not store.list(project):
        return
    transcript = store.find(ID, project)
    for _ in range(2):
        told = resume(project, home, mark)
        known = started(transcript)
        for agent in known:
            assert told.count(f"The agent {agent} (") == 1, "its end is told once"
        named = {Path(one["worktree"]).name for one in known.values() if one.get("worktree")}
        assert {name: worktrees(project).get(name) for name in named} == dict.fromkeys(named, True)
        subprocess.run(
            [*CHECKREIN, "worktree", "clean", "--days", "0"],
            cwd=project,
            env=environment(home, "http://127.0.0.1:9", mark),
            check=True,
            capture_output=True,
        )
        left = worktrees(project)
        assert set(left) == named
        for name in left:
            assert (
                told.count(f"Its worktree is kept, with its changes: {project}/.claude/worktrees/{name}") == 1
            )
    branches = {one.strip("+* ") for one in git(project, "branch").splitlines()}
    assert branches == {"main", *(f"worktree-{name}" for name in left)}
    assert git(project, "rev-parse", "HEAD") == head
    assert git(project, "status", "--porcelain") == ""
    ran = (home / "ran.log").read_text().split() if (home / "ran.log").exists() else []
    assert len(ran) == len(set(ran))
    assert marked(mark) == []
