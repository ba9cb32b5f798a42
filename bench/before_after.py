"""Compare two installed versions: is anything slower than before?

    python bench/before_after.py --before OLD/bin/checkrein [--pairs 40] [--jobs version,show,...]

Runs are interleaved: before, after, before, after ... Each row is the median of the pairs' ratios (after over
before) with its 95 % interval; `--most` is the bound that the upper end must stay below. The session rows use
the scripted endpoint of this version for both. It uses only loopback.
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
from collections.abc import Callable
from pathlib import Path

from harness import END, SCRIPTS, Run, interval

ROOT = Path(__file__).parents[1]
RECORDS = ROOT / "tests" / "conformance" / "data" / "permissions.jsonl"
Pick = Callable[[str], dict[str, float]]


def timed(argv: list[str], cwd: Path, env: dict[str, str], source: Path | None = None) -> dict[str, float]:
    began = time.perf_counter()
    with open(source or os.devnull, "rb") as given:
        process = subprocess.Popen(argv, cwd=cwd, env=env, stdin=given, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise SystemExit(f"{argv} ended with {process.returncode}")
    return {"wall": time.perf_counter() - began, "cpu": usage.ru_utime + usage.ru_stime}


def played(argv: list[str], cwd: Path, env: dict[str, str], script: Path) -> dict[str, float]:
    run = Run(argv, cwd, env, script)
    found = {"first request": run.first, "wall": run.wall, "cpu": run.cpu}
    return found | ({"per request": statistics.median(run.gaps)} if run.gaps else {})


def records(folder: Path) -> Path:
    """Rows that name their permissions, without the fields that only the table uses."""
    kept = ("id", "permissions", "mode", "tool", "input")
    rows = (json.loads(line.replace("@PROJ@", "/w/p")) for line in RECORDS.read_text().splitlines())
    file = folder / "records.jsonl"
    file.write_text(
        "".join(
            json.dumps({"permissions": {}, **{key: row[key] for key in kept if key in row}}) + "\n"
            for row in rows
        )
    )
    return file


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--before", required=True, help="the command of the older version")
    parser.add_argument("--after", default=str(Path(sys.executable).with_name("checkrein")))
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--jobs", default="version,show,decide,hello,loop50")
    parser.add_argument("--most", type=float, default=1.10)
    options = parser.parse_args()
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONDONTWRITEBYTECODE", "ANTHROPIC_MODEL")}
    with tempfile.TemporaryDirectory() as scratch:
        home, place = Path(scratch, "home"), Path(scratch, "project")
        home.mkdir()
        place.mkdir()
        env |= {"HOME": str(home), "XDG_DATA_HOME": str(home / "data"), "ANTHROPIC_API_KEY": "x"}
        hello, loop = Path(scratch, "hello.jsonl"), Path(scratch, "loop.jsonl")
        hello.write_text(json.dumps(END))
        loop.write_text("\n".join(json.dumps(turn) for turn in SCRIPTS["loop50"]))
        lines = records(Path(scratch))
        first = ROOT / "examples" / "first"
        session = ("-p", "go", "--model", "anthropic:m", "--dangerously-skip-permissions")
        jobs: dict[str, Pick] = {
            "version": lambda command: timed([command, "--version"], place, env),
            "show": lambda command: timed([command, "show"], first, env),
            "decide": lambda command: timed([command, "decide"], place, env, lines),
            "hello": lambda command: played([command, *session], place, env, hello),
            "loop50": lambda command: played([command, *session], place, env, loop),
        }
        print("| job | what | before ms | after ms | ratio | 95 % |\n|---|---|---|---|---|---|")
        worse = [job for job in options.jobs.split(",") if not compare(job, jobs[job], options)]
    if worse:
        raise SystemExit(f"slower than {options.most:g} times: {', '.join(worse)}")


def compare(job: str, run: Pick, options: argparse.Namespace) -> bool:
    run(options.before)
    run(options.after)
    pairs = [(run(options.before), run(options.after)) for _ in range(options.pairs)]
    fine = True
    for what in pairs[0][0]:
        before, after = ([one[what] for one in side] for side in zip(*pairs, strict=True))
        ratios = [new / old for old, new in zip(before, after, strict=True)]
        low, high = interval(ratios)
        fine = fine and high < options.most
        middle = statistics.median
        print(
            f"| {job} | {what} | {middle(before) * 1000:.1f} | {middle(after) * 1000:.1f} "
            f"| {middle(ratios):.2f} | {low:.2f}-{high:.2f} |",
            flush=True,
        )
    return fine


if __name__ == "__main__":
    main()
