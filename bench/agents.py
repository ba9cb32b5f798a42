"""Subagents: what starting one costs, and what fifty at once take.

    python bench/agents.py [--starts 200] [--agents 50] [--turns 20] [--json FILE]

Each measurement has a process of its own; the scripted model answers from this one, over loopback. *Start* is
the time from the call of Agent to the request of the subagent, less the time of the same way for a next
request of the same conversation. *Many* counts memory, threads and descriptors of the process.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from checkrein.testing import ScriptedServer

START_MS, MEMORY_MB = 10.0, 150.0
AGENT = "---\nname: worker\ndescription: works\ntools: Read\n---\nYou are WORKER.\n"

COMMON = """
import gc, json, os, sys, threading, time
from checkrein.runtime.session.idle import Idle
from checkrein.runtime.session.events import RequestSent, ToolFinished, ToolStarted
from checkrein.runtime.session.options import Options
from checkrein.runtime.session.session import Session

def status(field):
    return int(open("/proc/self/status").read().split(field + ":")[1].split()[0])

def descriptors():
    return len(os.listdir("/proc/self/fd"))

def live(session, see):
    idle = Idle(session.control.wakes, lambda: [see(one) for one in session.idle_events()], 600)
    following = "go"
    while following is not None:
        for event in session.run(following):
            see(event)
        following = idle.awaited()

def opened():
    return Session(".", model="anthropic:m", options=Options(trust=True))
"""

START = (
    COMMON
    + """
began, starts, nexts, last = {}, [], [], {}
def see(event):
    now = time.perf_counter()
    if isinstance(event, ToolStarted) and event.name == "Agent":
        began["at"] = now
    elif isinstance(event, RequestSent):
        if event.agent_id is not None and "at" in began:
            starts.append((now - began.pop("at")) * 1000)
        elif event.agent_id is not None and "read" in last:
            nexts.append((now - last.pop("read")) * 1000)
    elif isinstance(event, ToolFinished) and event.name == "Read":
        last["read"] = now
with opened() as session:
    live(session, see)
print(json.dumps({"starts": starts, "nexts": nexts}))
"""
)

MANY = (
    COMMON
    + """
most = [0, 0]
def see(event):
    most[0] = max(most[0], sum(one.name.startswith("agent-") for one in threading.enumerate()))
    most[1] = max(most[1], descriptors())
before = threading.active_count(), descriptors()
began, cpu = time.perf_counter(), time.process_time()
with opened() as session:
    live(session, see)
    ended = [task.state for task in session._agents.all()]
seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
limit = time.monotonic() + 5
while threading.active_count() > before[0] and time.monotonic() < limit:
    time.sleep(0.02)
print(json.dumps({
    "completed": ended.count("completed"), "at_once": most[0], "descriptors_at_most": most[1],
    "seconds": seconds, "cpu_seconds": cpu, "peak_mb": status("VmHWM") / 1024,
    "threads_left": threading.active_count() - before[0], "descriptors_left": descriptors() - before[1],
}))
"""
)

IMPORTED = (
    COMMON
    + """
with opened() as session:
    list(session.run("go"))
print(json.dumps({"peak_mb": status("VmHWM") / 1024}))
"""
)


def agent(prompt: str, **more: Any) -> dict[str, Any]:
    input = {"description": "work", "prompt": prompt, "subagent_type": "worker", **more}
    return {"name": "Agent", "input": input}


def measured(probe: str, turns: list[dict[str, Any]], limit: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder, ScriptedServer(turns) as server:
        project = Path(folder, "project")
        (project / ".claude" / "agents").mkdir(parents=True)
        (project / ".git").mkdir()
        (project / ".claude" / "agents" / "worker.md").write_text(AGENT)
        (project / "a.txt").write_text("alpha\n" * 40)
        env = {
            "PATH": os.environ["PATH"],
            "HOME": folder,
            "CHECKREIN_HOME": f"{folder}/home",
            "ANTHROPIC_BASE_URL": server.url,
            "ANTHROPIC_API_KEY": "k",
            "NO_PROXY": "*",
            "CLAUDE_CODE_MAX_CONCURRENT_SUBAGENTS": str(limit),
        }
        words = [sys.executable, "-c", probe]
        done = subprocess.run(words, cwd=project, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def starts(count: int) -> dict[str, float]:
    """Subagents one after the other, in the foreground; each reads a file and ends."""
    worker = {"system": "WORKER"}
    read = {"tool_calls": [{"name": "Read", "input": {"file_path": "a.txt"}}]}
    found = measured(
        START,
        [
            {"text": "done", "when": {**worker, "messages": 3}, "repeat": 0},
            {**read, "when": worker, "repeat": 0},
            *({"tool_calls": [agent("work", run_in_background=False)]} for _ in range(count)),
            {"text": "end", "repeat": 0},
        ],
        20,
    )
    first, rest, following = found["starts"][0], found["starts"][1:], statistics.median(found["nexts"])
    median = statistics.median(rest)
    return {
        "first_ms": first,
        "start_ms": median,
        "next_ms": following,
        "beyond_ms": median - following,
        "p95_ms": statistics.quantiles(rest, n=20)[-1] - following,
    }


def many(count: int, turns: int) -> dict[str, Any]:
    """Subagents at once, in the background, each with so many requests."""
    worker = {"system": "WORKER"}
    read = {"tool_calls": [{"name": "Read", "input": {"file_path": "a.txt"}}]}
    found = measured(
        MANY,
        [
            {"text": "done " * 200, "when": {**worker, "messages": 2 * turns - 1}, "repeat": 0},
            {**read, "when": worker, "delay": 0.05, "repeat": 0},
            {"tool_calls": [agent(f"task {number}") for number in range(count)]},
            {"text": "waiting", "repeat": 0},
        ],
        count,
    )
    alone = measured(IMPORTED, [{"text": "end", "repeat": 0}], count)["peak_mb"]
    return {**found, "alone_mb": alone, "each_mb": (found["peak_mb"] - alone) / count}


def row(title: str, value: float, unit: str = "", aim: float | None = None) -> None:
    shown = f"{value:8}" if isinstance(value, int) else f"{value:8.1f}"
    ratio = f"   ratio to the aim {value / aim:.2f}" if aim is not None else ""
    print(f"  {title:<28}{shown} {unit}{ratio}")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--starts", type=int, default=200)
    parser.add_argument("--agents", type=int, default=50)
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--json", type=Path, help="write the numbers here too")
    options = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    one, all_ = starts(options.starts), many(options.agents, options.turns)
    print(f"\nstart of one, {options.starts} in a row")
    row("the first, with imports", one["first_ms"], "ms")
    row("median", one["start_ms"], "ms")
    row("a next request of its own", one["next_ms"], "ms")
    row("beyond its first request", one["beyond_ms"], "ms", START_MS)
    row("the same, 95th percentile", one["p95_ms"], "ms")
    print(f"\n{options.agents} at once, {options.turns} requests each")
    row("ended well", all_["completed"], f"of {options.agents}, {all_['at_once']} at once")
    row("wall", all_["seconds"], "s")
    row("processor", all_["cpu_seconds"], "s")
    row("peak memory", all_["peak_mb"], "MB", MEMORY_MB)
    row("a session without any", all_["alone_mb"], f"MB, so {all_['each_mb']:.2f} MB for each")
    row("threads left", all_["threads_left"])
    row("descriptors left", all_["descriptors_left"])
    if options.json is not None:
        options.json.write_text(json.dumps({"start": one, "many": all_}, indent=1))
    good = (
        one["beyond_ms"] <= START_MS and all_["peak_mb"] < MEMORY_MB and all_["completed"] == options.agents
    )
    return 0 if good and all_["threads_left"] <= 0 and all_["descriptors_left"] <= 0 else 1


if __name__ == "__main__":
    raise SystemExit(main())
