"""What installed plugins cost a start: 200 plugins with 1,000 skills against none, in interleaved pairs.

    python bench/plugins.py [pairs]

The difference is the median over pairs: of whole processes that load a project, and of `checkrein -p` from
its start to its first request to a model on this machine. The aim is at most 60 ms for each.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness import END, Run

PLUGINS, SKILLS = 200, 5
LOAD = "from checkrein.passes.load import load; print(len(load('.', detect=False).skills))"
TEXT = (
    "---\nname: {name}\ndescription: Use when somebody wants {name} done with care.\n"
    "allowed-tools: Read, Grep\n---\n"
)


def furnish(home: Path, plugins: int) -> dict[str, str]:
    """A home with a project in it and so many plugins installed and enabled."""
    shop, project = home / "shop", home / "project"
    (project / ".git").mkdir(parents=True)
    names = [f"plugin{number}" for number in range(plugins)]
    for name in names:
        manifest = shop / name / ".claude-plugin" / "plugin.json"
        manifest.parent.mkdir(parents=True)
        manifest.write_text(json.dumps({"name": name, "version": "1.0.0", "description": "A plugin."}))
        for number in range(SKILLS):
            file = shop / name / "skills" / f"{name}-{number}" / "SKILL.md"
            file.parent.mkdir(parents=True)
            file.write_text(TEXT.format(name=file.parent.name) + "Do one step, then the next.\n" * 40)
    entries = [{"name": name, "source": f"./{name}"} for name in names]
    catalog = shop / ".claude-plugin" / "marketplace.json"
    catalog.parent.mkdir(parents=True, exist_ok=True)
    catalog.write_text(json.dumps({"name": "shop", "owner": {"name": "Ann"}, "plugins": entries}))
    env = {**os.environ, "HOME": str(home), "CHECKREIN_HOME": str(home / "checkrein")}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    if plugins:
        checkrein = [sys.executable, "-m", "checkrein", "plugin"]
        subprocess.run(
            [*checkrein, "marketplace", "add", str(shop)],
            cwd=project,
            env=env,
            check=True,
            capture_output=True,
        )
        subprocess.run(
            [*checkrein, "install", *names, "--yes"], cwd=project, env=env, check=True, capture_output=True
        )
    return env


def once(home: Path, env: dict[str, str], expected: int) -> tuple[float, float]:
    """Milliseconds of wall and of processor time."""
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-c", LOAD], cwd=home / "project", env=env, check=True, capture_output=True
    )
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    assert int(done.stdout) == expected
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall * 1000, cpu * 1000


def started(home: Path, env: dict[str, str], script: Path) -> tuple[float, float]:
    """Milliseconds until the first request, and of processor time to the end."""
    argv = [str(Path(sys.executable).with_name("checkrein")), "-p", "go", "--model", "anthropic:m"]
    run = Run(argv, home / "project", {**env, "ANTHROPIC_API_KEY": "x"}, script)
    return run.first * 1000, run.cpu * 1000


def main() -> None:
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "script.jsonl"
        script.write_text(json.dumps(END) + "\n")
        many, none = Path(folder) / "many", Path(folder) / "none"
        with_many, with_none = furnish(many, PLUGINS), furnish(none, 0)
        for _ in range(2):
            once(many, with_many, PLUGINS * SKILLS), once(none, with_none, 0)
        loads = [(once(many, with_many, PLUGINS * SKILLS), once(none, with_none, 0)) for _ in range(pairs)]
        starts = [(started(many, with_many, script), started(none, with_none, script)) for _ in range(pairs)]
    print("| 200 plugins, 1,000 skills | without ms | more ms | aim |")
    print("|---|---|---|---|")
    for found, names in ((loads, ("load, wall", "load, cpu")), (starts, ("first request", "session, cpu"))):
        for clock, name in enumerate(names):
            more = statistics.median(one[clock] - two[clock] for one, two in found)
            base = statistics.median(two[clock] for _, two in found)
            print(f"| {name} | {base:.0f} | {more:+.0f} | 60 |")


if __name__ == "__main__":
    main()
