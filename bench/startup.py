"""How long Bridle takes to start, as ratios to bare interpreters in the same run.

    python bench/startup.py [pairs]

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

ROWS = (
    ("bridle --version", ["{bridle}", "--version"], ["{python}", "-c", "pass"], 1.5),
    ("bridle show", ["{bridle}", "show"], ["{python}", "-c", "import click, msgspec, yaml"], 1.5),
    (
        "bridle show --json",
        ["{bridle}", "show", "--json"],
        ["{python}", "-c", "import click, msgspec, yaml"],
        1.5,
    ),
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
    bridle = str(Path(sys.executable).with_name("bridle"))
    project = Path(__file__).parents[1] / "examples" / "first"
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    print("| command | median ms | base median ms | ratio | 95 % | aim |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as home:
        env["HOME"] = home
        for name, command, base, aim in ROWS:
            argv = [part.format(bridle=bridle, python=sys.executable) for part in command]
            other = [part.format(bridle=bridle, python=sys.executable) for part in base]
            for _ in range(3):
                once(argv, str(project), env), once(other, str(project), env)
            ours, theirs = [], []
            for _ in range(pairs):
                ours.append(once(argv, str(project), env))
                theirs.append(once(other, str(project), env))
            ratios = [one / two for one, two in zip(ours, theirs, strict=True)]
            low, high = interval(ratios)
            middle = statistics.median(ratios)
            print(
                f"| {name} | {statistics.median(ours) * 1000:.0f} | {statistics.median(theirs) * 1000:.0f} "
                f"| {middle:.2f} | {low:.2f}-{high:.2f} | {aim} {'ok' if middle <= aim else 'MISSED'} |"
            )


if __name__ == "__main__":
    main()
