"""How long Checkrein takes to start, as ratios to bare interpreters in the same run.

    python bench/startup.py [pairs]

Each line is the median of interleaved pairs with the 95 % interval of the median ratio. `wall` is what a user
waits; `cpu` is the processor time of the process, which holds also when other work shares the machine.
"""

from __future__ import annotations

import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROWS = (
    ("checkrein --version", ["{checkrein}", "--version"], ["{python}", "-c", "pass"], 1.5),
    ("checkrein show", ["{checkrein}", "show"], ["{python}", "-c", "import click, msgspec, yaml"], 1.5),
    (
        "checkrein show --json",
        ["{checkrein}", "show", "--json"],
        ["{python}", "-c", "import click, msgspec, yaml"],
        1.5,
    ),
)


def once(argv: list[str], cwd: str, env: dict[str, str]) -> tuple[float, float]:
    """Seconds of wall and of processor time of one run."""
    began = time.perf_counter()
    process = subprocess.Popen(
        argv, cwd=cwd, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return time.perf_counter() - began, usage.ru_utime + usage.ru_stime


def interval(ratios: list[float]) -> tuple[float, float]:
    chance = random.Random(1)
    medians = sorted(statistics.median(chance.choices(ratios, k=len(ratios))) for _ in range(2000))
    return medians[50], medians[1949]


def main() -> None:
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 25
    checkrein = str(Path(sys.executable).with_name("checkrein"))
    project = Path(__file__).parents[1] / "examples" / "first"
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    print("| command | wall ms | base ms | wall ratio | 95 % | cpu ms | base ms | cpu ratio | 95 % | aim |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as home:
        env["HOME"] = home
        for name, command, base, aim in ROWS:
            argv = [part.format(checkrein=checkrein, python=sys.executable) for part in command]
            other = [part.format(checkrein=checkrein, python=sys.executable) for part in base]
            for _ in range(3):
                once(argv, str(project), env), once(other, str(project), env)
            runs = [(once(argv, str(project), env), once(other, str(project), env)) for _ in range(pairs)]
            cells = []
            for clock in (0, 1):
                ours, theirs = [one[clock] for one, _ in runs], [two[clock] for _, two in runs]
                ratios = [one / two for one, two in zip(ours, theirs, strict=True)]
                low, high = interval(ratios)
                cells += [
                    f"{statistics.median(ours) * 1000:.0f}",
                    f"{statistics.median(theirs) * 1000:.0f}",
                    f"{statistics.median(ratios):.2f}",
                    f"{low:.2f}-{high:.2f}",
                ]
            print(f"| {name} | {' | '.join(cells)} | {aim} |", flush=True)


if __name__ == "__main__":
    main()
