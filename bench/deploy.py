"""Deploy skills to ten agents: time per file as the project grows, and the second run, which writes nothing.

    python bench/deploy.py [--skills 1000] [--runs 3]

*own* is processor time outside the kernel, per file; *bare* writes the same files by mkdir, open and rename.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import tempfile
import time
from pathlib import Path

from checkrein.deploy.apply import apply_plan
from checkrein.deploy.deploy import prepare
from checkrein.deploy.targets import chosen_targets
from checkrein.passes.load import load

AGENTS = "copilot,codex,gemini,opencode,cursor,qwen,kiro,droid,trae,vibe"


def make_project(root: Path, count: int) -> None:
    for number in range(count):
        directory = root / ".claude/skills" / f"skill-{number:04d}"
        (directory / "scripts").mkdir(parents=True)
        (directory / "SKILL.md").write_text(
            f"---\nname: skill-{number:04d}\ndescription: 'Does: thing {number}. Use when asked.'\n"
            f"allowed-tools: Read Grep\nargument-hint: '[path]'\nmodel: opus\n---\n"
            + f"Step {number}: read $ARGUMENTS and report.\n"
            * 20
        )
        (directory / "scripts" / "run.sh").write_text("#!/bin/sh\nexit 0\n")
    (root / ".git").mkdir(parents=True)


def deploy(root: Path, home: Path) -> tuple[float, int, float]:
    """(seconds, files written, seconds of processor time outside the kernel) of one deploy call."""
    started, busy = time.perf_counter(), os.times().user
    project = load(root, env={"HOME": str(home)}, managed_dir=str(home / "none"))
    prepared = prepare(project, chosen_targets([AGENTS]))
    applied = apply_plan(prepared.paths, prepared.plan)
    return time.perf_counter() - started, len(applied.written), os.times().user - busy


def write_bare(root: Path, copy: Path) -> float:
    """Seconds for the same files with only mkdir, open and rename: the share of the file system."""
    files = {
        copy / path.relative_to(root): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and path.parts[len(root.parts)] not in (".claude", ".checkrein")
    }
    started = time.perf_counter()
    made: set[Path] = set()
    for path, content in files.items():
        if path.parent not in made:
            path.parent.mkdir(parents=True, exist_ok=True)
            made.add(path.parent)
        temporary = path.with_name(".tmp")
        temporary.write_bytes(content)
        temporary.replace(path)
    return time.perf_counter() - started


def measure(count: int) -> tuple[float, float, int, int, float, float]:
    base = Path(tempfile.mkdtemp())
    try:
        root = base / "p"
        make_project(root, count)
        first, written, busy = deploy(root, base / "home")
        second, again, _ = deploy(root, base / "home")
        return first, second, written, again, busy, write_bare(root, base / "copy")
    finally:
        shutil.rmtree(base)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--skills", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    sizes = [max(1, options.skills // 4), max(1, options.skills // 2), options.skills]
    heads = ("skills", "files", "first s", "ms/file", "second s", "written", "own ms/f", "bare s")
    print(" ".join(f"{head:>9}" for head in heads))
    for size in sizes:
        rows = [measure(size) for _ in range(options.runs)]
        first = statistics.median(row[0] for row in rows)
        second = statistics.median(row[1] for row in rows)
        busy = statistics.median(row[4] for row in rows)
        bare = statistics.median(row[5] for row in rows)
        written, again = rows[0][2], max(row[3] for row in rows)
        print(
            f"{size:>9} {written:>9} {first:>9.2f} {1000 * first / written:>9.3f} {second:>9.2f}"
            f" {again:>9} {1000 * busy / written:>9.3f} {bare:>9.2f}"
        )


if __name__ == "__main__":
    main()
