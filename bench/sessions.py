"""Sessions at scale: listing and loading 10,000 sessions, one of them 200 MB.

    python bench/sessions.py [--sessions 10000] [--megabytes 200] [--directory DIR]

Every number comes from its own process; peak memory is over a process that only imports the store.
The growth tables repeat a measurement at a quarter, a half and the whole: linear work doubles with its input.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUNS = 3
LIMIT_MB = 100

PROBE = """
import json, sys, time
from pathlib import Path
from checkrein.runtime.store import SessionStore
import checkrein.runtime.store.load

def peak():
    try:
        status = open("/proc/self/status").read()
        return int(status.split("VmHWM:")[1].split()[0]) / 1024
    except OSError:
        import resource
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20)

root, what, *rest = sys.argv[1:]
store, before, start = SessionStore(root), peak(), time.perf_counter()
if what == "list":
    count = len(store.list(rest[0] if rest else None))
elif what == "search":
    count = len(store.search("needle", limit=10))
elif what == "latest":
    count = store.latest(rest[0]).prompt_count
elif what == "outline":
    count = store.outline(rest[0]).message_count
elif what == "load":
    count = len(store.load(rest[0]).messages)
else:
    count = 0
print(json.dumps([time.perf_counter() - start, peak() - before, count]))
"""


def measure(root: Path, what: str, *rest: str, runs: int = RUNS) -> tuple[float, float, int]:
    """Median seconds, largest peak in MB over the import, and what was counted."""
    found = []
    for _ in range(runs):
        done = subprocess.run(
            [sys.executable, "-c", PROBE, str(root), what, *rest], capture_output=True, check=True, text=True
        )
        found.append(json.loads(done.stdout))
    return statistics.median(f[0] for f in found), max(f[1] for f in found), found[0][2]


def fill(root: Path, projects: list[Path], count: int) -> None:
    """Small sessions of five turns with a tool call each, about 9 kB."""
    from checkrein.runtime.store import SessionStore

    store = SessionStore(root)
    for number in range(count):
        with store.create(projects[number % len(projects)], session_id=f"small-{number:05}") as writer:
            turns(writer, 5, f"{number}-", output=600)


def turns(writer, count: int, prefix: str, *, output: int, compact_every: int = 0) -> None:  # type: ignore[no-untyped-def]
    for turn in range(count):
        call = f"toolu_{prefix}{turn}"
        writer.user(f"Please look at case {turn} and say what is wrong with it.")
        text = {"type": "text", "text": "I read the file and will run its test. " * 5}
        tool = {
            "type": "tool_use",
            "id": call,
            "name": "Bash",
            "input": {"command": f"pytest -k case_{turn}"},
        }
        usage = {"input_tokens": 900, "output_tokens": 120, "cache_read_input_tokens": 4000}
        writer.assistant(
            {"id": f"msg_{prefix}{turn}", "model": "some-model", "content": [text, tool], "usage": usage}
        )
        writer.tool_started(call, "Bash")
        writer.tool_result(call, "x = 1  # a line of output\n" * (output // 26))
        if compact_every and turn % compact_every == compact_every - 1:
            writer.compact("What was done so far. " * 100, trigger="auto", before_tokens=150_000)


def big(root: Path, cwd: Path, name: str, megabytes: float, *, compact_every: int) -> None:
    from checkrein.runtime.store import SessionStore

    with SessionStore(root).create(cwd, session_id=name) as writer:
        turn = 0
        while writer.path.stat().st_size < megabytes * 1_000_000:
            turns(writer, 100, f"{turn}-", output=4000, compact_every=compact_every)
            turn += 1


def row(*cells: object, widths: tuple[int, ...] = (52, 12, 12, 14)) -> None:
    first, *others = (f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in cells)
    print(
        first.ljust(widths[0])
        + "".join(cell.rjust(width) for cell, width in zip(others, widths[1:], strict=False))
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sessions", type=int, default=10_000)
    parser.add_argument("--megabytes", type=float, default=200)
    parser.add_argument("--directory", type=Path, help="keep the generated sessions here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.directory) as directory:
        return run(Path(directory), options.sessions, options.megabytes)


def run(base: Path, sessions: int, megabytes: float) -> int:
    os.environ["CHECKREIN_HOME"] = str(base / "home")
    for name in ("CLAUDE_CONFIG_DIR", "CHECKREIN_CLOCK", "CHECKREIN_ID_SEED"):
        os.environ.pop(name, None)
    projects = [base / f"project-{number}" for number in range(max(1, sessions // 200))]
    for project in projects:
        project.mkdir()
    root, worst = base / "all", 0.0
    began = time.perf_counter()
    fill(root, projects, sessions - 1)
    big(root, projects[0], "big", megabytes, compact_every=70)
    size = sum(path.stat().st_size for path in root.rglob("*.jsonl")) / 1e6
    print(f"python bench/sessions.py --sessions {sessions} --megabytes {megabytes:g}")
    print(f"{sessions} sessions, {size:.0f} MB, written in {time.perf_counter() - began:.1f} s\n")
    row("what", "seconds", "peak MB", "counted")
    for title, what, *rest in (
        ("list all, index missing", "list"),
        ("list all, index present", "list"),
        ("list one project, index present", "list", str(projects[-1])),
        ("latest of one project (--continue)", "latest", str(projects[-1])),
        ("search all", "search"),
        (f"outline of the {megabytes:g} MB session (load-session)", "outline", "big"),
        (f"load of the {megabytes:g} MB session, compacted", "load", "big"),
        ("load of a small session", "load", "small-00000"),
    ):
        seconds, peak, count = measure(root, what, *rest, runs=1 if "missing" in title else RUNS)
        worst = max(worst, peak)
        row(title, seconds, peak, count)

    print("\nGrowth: a session that was never compacted")
    row("size", "seconds", "peak MB", "s per 100 MB")
    for part in (megabytes / 4, megabytes / 2, megabytes):
        here = base / f"grow-{part:g}"
        big(here, projects[0], "big", part, compact_every=0)
        seconds, peak, _ = measure(here, "outline", "big")
        worst = max(worst, peak)
        row(f"outline of {part:g} MB", seconds, peak, seconds / part * 100)

    print("\nGrowth: listing without and with an index")
    row("sessions", "first", "again", "us each")
    for count in (sessions // 4, sessions // 2, sessions):
        here = base / f"many-{count}"
        fill(here, projects, count)
        first, peak, _ = measure(here, "list", runs=1)
        again, _, _ = measure(here, "list")
        worst = max(worst, peak)
        row(f"list {count}", first, again, again / count * 1e6)

    print(f"\nlargest peak over baseline: {worst:.1f} MB (limit {LIMIT_MB} MB)")
    return 0 if worst < LIMIT_MB else 1


if __name__ == "__main__":
    raise SystemExit(main())
