"""What one call of the machine protocol costs, compared with an interpreter that imports click and msgspec.

    python bench/machine.py [pairs]

Each line is the median of interleaved pairs with the 95 % interval of the median ratio.
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

BASE = ["{python}", "-c", "import click, msgspec"]
ROWS = (
    ("show-tool Bash", ["show-tool", "Bash"], 1.5),
    ("show-tool Nope (not found)", ["show-tool", "Nope"], None),
    ("list-sessions", ["list-sessions"], None),
    ("show-command", ["show-command", "release-notes"], None),
    ("tool-pool", ["tool-pool"], None),
)


def once(argv: list[str], cwd: str, env: dict[str, str]) -> float:
    began = time.perf_counter()
    subprocess.run(argv, cwd=cwd, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return time.perf_counter() - began


def interval(ratios: list[float]) -> tuple[float, float]:
    chance = random.Random(1)
    medians = sorted(statistics.median(chance.choices(ratios, k=len(ratios))) for _ in range(2000))
    return medians[50], medians[1949]


def main() -> None:
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 25
    checkrein = str(Path(sys.executable).with_name("checkrein"))
    project = str(Path(__file__).parents[1] / "examples" / "first")
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    base = [part.format(python=sys.executable) for part in BASE]
    print("| command | median ms | base median ms | ratio | 95 % | aim |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as home:
        env |= {"HOME": home, "CHECKREIN_HOME": home + "/checkrein"}
        for name, command, aim in ROWS:
            argv = [checkrein, "machine", *command, "--output-format", "json"]
            for _ in range(3):
                once(argv, project, env), once(base, project, env)
            measured = [(once(argv, project, env), once(base, project, env)) for _ in range(pairs)]
            ratios = [ours / theirs for ours, theirs in measured]
            low, high = interval(ratios)
            middle = statistics.median(ratios)
            ours, theirs = (statistics.median(column) * 1000 for column in zip(*measured, strict=True))
            verdict = "" if aim is None else f"{aim} {'ok' if middle <= aim else 'MISSED'}"
            print(f"| {name} | {ours:.0f} | {theirs:.0f} | {middle:.2f} | {low:.2f}-{high:.2f} | {verdict} |")


if __name__ == "__main__":
    main()
