"""Time and memory of loading projects of 10 to 10,000 skills, with 20,000 other files beside them.

    python bench/load.py [--sizes 10,100,1000,10000] [--others 20000] [--rounds 5]

Each size runs in fresh processes, so that peak memory is its own. The floor opens every SKILL.md and
gives its frontmatter to `yaml.load` with the C loader; floor and load alternate, and the ratio is the median
of the pairs. Times are processor time, which other work on the machine changes little. After the first round
the files are in the system's cache.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

BODY = "Do the work with care, then report what was done and what was left.\n" * 30


def generate(root: Path, skills: int, others: int) -> None:
    (root / ".git").mkdir(parents=True)
    for number in range(skills):
        directory = root / ".claude" / "skills" / f"skill-{number:05}"
        directory.mkdir(parents=True)
        (directory / "SKILL.md").write_text(
            f"---\nname: skill-{number:05}\n"
            f"description: Does task {number}. Use it when somebody asks for task {number} or speaks of it.\n"
            "allowed-tools: Bash(git log *), Read, Grep\nargument-hint: '[topic]'\nmodel: inherit\n"
            f"license: Apache-2.0\n---\n# Skill {number}\n\n{BODY}",
            encoding="utf-8",
        )
    for number in range(others):
        directory = root / "src" / f"package{number // 200:03}"
        directory.mkdir(parents=True, exist_ok=True)
        (directory / f"module{number:05}.py").write_text("VALUE = 1\n", encoding="utf-8")


def floor(root: str) -> int:
    """Open every skill and parse its frontmatter, nothing else."""
    import yaml

    skills = os.path.join(root, ".claude", "skills")
    count = 0
    for name in os.listdir(skills):
        with open(os.path.join(skills, name, "SKILL.md"), encoding="utf-8") as file:
            yaml.load(file.read().split("---\n", 2)[1], yaml.CSafeLoader)
        count += 1
    return count


def measure(root: str, rounds: int) -> dict[str, float]:
    """Runs in its own process: seconds of floor and load in pairs, peak memory of loading."""
    import resource
    import time

    from checkrein.passes.load import load

    pairs = []
    peak_before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for turn in range(rounds + 1):
        begin = time.process_time()
        project = load(root, env={}, home=os.path.join(root, "no-home"))
        loaded = time.process_time() - begin
        if turn == 0:
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        count = len(project.skills)
        del project
        begin = time.process_time()
        assert floor(root) == count
        pairs.append((loaded, time.process_time() - begin))
    pairs = pairs[1:]
    ratios = sorted(a / b for a, b in pairs)
    return {
        "skills": count,
        "load": median(a for a, _ in pairs),
        "floor": median(b for _, b in pairs),
        "ratio": median(ratios),
        "low": ratios[0],
        "high": ratios[-1],
        "peak_mb": peak / 1024,
        "grown_mb": (peak - peak_before) / 1024,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="10,100,1000,10000")
    parser.add_argument("--others", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.measure, options.rounds)))
        return
    print(
        f"{'skills':>7} {'load ms':>9} {'us/skill':>9} {'floor ms':>9} "
        f"{'ratio':>6} {'range':>11} {'peak MB':>8}"
    )
    seconds: dict[int, float] = {}
    for size in (int(part) for part in options.sizes.split(",")):
        with tempfile.TemporaryDirectory() as directory:
            generate(Path(directory) / "project", size, options.others)
            command = [
                sys.executable,
                __file__,
                "--measure",
                directory + "/project",
                "--rounds",
                str(options.rounds),
            ]
            row = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        seconds[size] = row["load"]
        print(
            f"{size:>7} {row['load'] * 1e3:>9.2f} {row['load'] / size * 1e6:>9.1f} "
            f"{row['floor'] * 1e3:>9.2f} "
            f"{row['ratio']:>6.2f} {row['low']:>5.2f}-{row['high']:<5.2f} {row['peak_mb']:>8.1f}"
        )
    if 1000 in seconds and 10_000 in seconds:
        print(
            f"10,000 skills cost {seconds[10_000] / (10 * seconds[1000]):.2f} x ten times 1,000"
            " (goal: at most 1.2)"
        )


if __name__ == "__main__":
    main()
