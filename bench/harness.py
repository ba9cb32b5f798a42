"""What a session costs compared with the floor (a raw httpx loop), on the package's own scripted endpoint.

    python bench/harness.py [--pairs 15] [--jobs hello,loop50,parallel,bigrepo,long500] [--json FILE]
    python bench/harness.py --servers [10]    what MCP servers in a project's files cost, against none

Runs are interleaved: ours, floor, ours, floor ... Each row is the median of the pairs' ratios with its 95 %
interval. The floor has a virtual environment of its own with httpx and nothing else, `--floor DIR`: where
click and pygments are installed too, httpx imports them. The first run makes it; then only loopback is used.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
ECHO = {"text": "", "tool_calls": [{"name": "Bash", "input": {"command": "echo k", "description": "say k"}}]}
SLEEP = {"text": "", "tool_calls": [{"name": "Bash", "input": {"command": "sleep 0.2"}}] * 10}
END = {"text": "done"}
SERVER = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    who = {"name": "s", "version": "1"}
    about = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": who}
    tools = {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}
    result = {"initialize": about, "tools/list": tools}.get(asked.get("method"))
    if result:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""
SCRIPTS = {
    "hello": [END],
    "loop50": [ECHO] * 50 + [END],
    "parallel": [SLEEP, END],
    "bigrepo": [END],
    "long500": [ECHO] * 500 + [END],
}


class Run:
    """One process against one endpoint: when its requests came, what it cost."""

    def __init__(self, argv: list[str], cwd: Path, env: dict[str, str], script: Path) -> None:
        server = subprocess.Popen(
            [sys.executable, "-m", "checkrein", "mock-model", str(script), "--requests"],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert server.stdout is not None
        url = json.loads(server.stdout.readline())["url"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        began = time.monotonic()
        done = subprocess.run(
            argv,
            cwd=cwd,
            env={**env, "ANTHROPIC_BASE_URL": url},
            capture_output=True,
            stdin=subprocess.DEVNULL,
        )
        self.wall = time.monotonic() - began
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        server.terminate()
        lines = [json.loads(line) for line in server.stdout.read().splitlines()]
        server.wait()
        requests = [line for line in lines if line.get("number")]
        if done.returncode or not requests:
            raise SystemExit(f"{argv[:4]} failed: {done.stderr.decode()[-800:]}")
        self.first = requests[0]["at"] - began
        self.times = [line["at"] for line in requests]
        self.gaps = [b - a for a, b in zip(self.times, self.times[1:], strict=False)]
        self.bytes = [line["bytes"] for line in requests]


def interval(values: list[float]) -> tuple[float, float]:
    chance = random.Random(1)
    medians = sorted(statistics.median(chance.choices(values, k=len(values))) for _ in range(2000))
    return medians[50], medians[1949]


def big_repo(root: Path) -> None:
    for number in range(20_000):
        path = root / f"src/d{number % 200}" / f"f{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x\n")
    for number in range(200):
        path = root / f".claude/skills/skill-{number}/SKILL.md"
        path.parent.mkdir(parents=True)
        path.write_text(
            f"---\nname: skill-{number}\ndescription: Use when task {number} comes up.\n---\nDo {number}.\n"
        )
    for number in range(50):
        path = root / f".claude/agents/agent-{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"---\nname: agent-{number}\ndescription: Does {number}.\n---\nDo it.\n")
    subprocess.run(["git", "init", "-q", str(root)], check=True)


def floor_python(directory: Path) -> str:
    """The interpreter of the floor."""
    python = directory / "bin/python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(directory)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", "httpx"], check=True)
    return str(python)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--jobs", default="hello,loop50,parallel,bigrepo")
    parser.add_argument("--mode", default="bypassPermissions", help="the permission mode of our runs")
    parser.add_argument("--floor", type=Path, default=HERE.parent / ".venv-floor")
    parser.add_argument("--json")
    parser.add_argument("--servers", type=int, nargs="?", const=10, metavar="NUMBER")
    options = parser.parse_args()
    python = floor_python(options.floor)
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONDONTWRITEBYTECODE", "ANTHROPIC_MODEL")}
    env["ANTHROPIC_API_KEY"] = "x"
    records: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch, "home")
        small, big = Path(scratch, "small"), Path(scratch, "big")
        for directory in (home, small, big):
            directory.mkdir()
        env |= {"HOME": str(home), "CHECKREIN_HOME": str(home / "checkrein")}
        if options.servers:
            records["servers"] = with_servers(options.servers, options.pairs, Path(scratch), env)
            options.jobs = ""
        else:
            print("| job | ours | floor | ratio | 95 % | what |\n|---|---|---|---|---|---|")
        for job in filter(None, options.jobs.split(",")):
            script = Path(scratch, f"{job}.jsonl")
            script.write_text("".join(json.dumps(turn) + "\n" for turn in SCRIPTS[job]))
            place = small
            if job == "bigrepo":
                big_repo(big)
                place = big
            checkrein = str(Path(sys.executable).with_name("checkrein"))
            ours = [checkrein, "-p", "go", "--model", "anthropic:m", "--permission-mode", options.mode]
            ours += ["--allowedTools", "Bash(echo *)", "Bash(sleep *)"] if options.mode == "default" else []
            floor = [python, str(HERE / "floor.py"), "go"]
            Run(ours, place, env, script), Run(floor, place, env, script)
            pairs = [
                (Run(ours, place, env, script), Run(floor, place, env, script)) for _ in range(options.pairs)
            ]
            records[job] = report(job, pairs)
    if options.json:
        Path(options.json).write_text(json.dumps(records, indent=1))


def with_servers(number: int, pairs: int, scratch: Path, env: dict[str, str]) -> dict[str, float]:
    """The first request in a trusted project that names so many MCP servers, against one that names none. The
    model answers after a second, so that servers really start."""
    places = scratch / "with", scratch / "without"
    for place in places:
        (place / ".git").mkdir(parents=True)
    server = scratch / "server.py"
    server.write_text(SERVER)
    entry = {"command": sys.executable, "args": ["-I", str(server)]}
    named = {f"s{one}": entry for one in range(number)}
    (places[0] / ".mcp.json").write_text(json.dumps({"mcpServers": named}))
    script = scratch / "servers.jsonl"
    script.write_text(json.dumps({**END, "delay": 1.0}) + "\n")
    checkrein = str(Path(sys.executable).with_name("checkrein"))
    argv = [checkrein, "-p", "go", "--model", "anthropic:m", "--trust"]
    found = [tuple(Run(argv, place, env, script) for place in places) for _ in range(pairs + 1)][1:]
    print("| job | with | without | ratio | 95 % | what |\n|---|---|---|---|---|---|")
    return report(f"{number} servers", [(one, other) for one, other in found])


def report(job: str, pairs: list[tuple[Run, Run]]) -> dict[str, float]:
    def row(name: str, pick: object, unit: float = 1000.0) -> float:
        assert callable(pick)
        ours = [pick(one) for one, _ in pairs]
        floor = [pick(other) for _, other in pairs]
        ratios = [a / b for a, b in zip(ours, floor, strict=True) if b]
        low, high = interval(ratios)
        middle = statistics.median(ratios)
        print(
            f"| {job} | {statistics.median(ours) * unit:.1f} | {statistics.median(floor) * unit:.1f} "
            f"| {middle:.2f} | {low:.2f}-{high:.2f} | {name} |",
            flush=True,
        )
        return middle

    found = {"first": row("exec to first request, ms", lambda run: run.first)}
    if job in ("loop50", "long500"):
        found["request"] = row("per request, ms", lambda run: statistics.median(run.gaps))
    if job == "long500":
        curve = [
            f"{start}-{start + 50}: {statistics.median(pairs[0][0].gaps[start : start + 50]) * 1000:.1f}"
            for start in range(0, 500, 50)
        ]
        print(f"ours, ms per request by number of the request: {', '.join(curve)}")
    if job == "parallel":
        found["parallel"] = row("ten tools of 0.2 s, ms", lambda run: run.gaps[0])
    found["cpu"] = row("CPU of the process tree, ms", lambda run: run.cpu)
    found["wall"] = row("exec to exit, ms", lambda run: run.wall)
    return found


if __name__ == "__main__":
    main()
