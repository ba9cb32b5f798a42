"""What the exec guard costs: guarded and unguarded runs, interleaved, idle and beside a busy thread.

    python bench/guard.py [--rounds 15] [--starts 2000]

Prints each limit and fails when one is broken. Quiet machines only: a limit is compared with the median of
the pairs, or with the fastest pair of runs (`--fastest`) where others use the machine.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from checkrein.base.origin import Origin
from checkrein.llm.cancel import Cancel
from checkrein.policy.starts import Answer, Started, Watch, Watched
from checkrein.runtime.process.guard.availability import guard_status
from checkrein.runtime.process.guard.guard import Guard
from checkrein.runtime.process.sandbox.policy import reading_only
from checkrein.runtime.process.spawner import Command, Spawner

PACKAGES = 12


class Judge:
    def judge(self, started: Started, cancel: Cancel) -> Answer:
        return Answer(False, "the benchmark denies it")


GUARD = Guard(
    watch=Watch(programs=(Watched("rm"), Watched("git", ("push",)), Watched("curl"))), judge=Judge()
)


def once(
    spawner: Spawner, argv: str | tuple[str, ...], guarded: bool, cwd: str = "/", reads: bool = False
) -> float:
    """`reads`: a guarded one is held to reading only."""
    command = Command(
        argv=argv,
        cwd=cwd,
        origin=Origin("<bundled>", "bundled"),
        purpose="a benchmark",
        env={"PATH": os.environ["PATH"], "HOME": cwd},
        guard=GUARD if guarded else None,
        sandbox=reading_only() if guarded and reads else None,
    )
    began = time.perf_counter()
    done = spawner.run(command, Cancel())
    took = time.perf_counter() - began
    if done.exit_code != 0:
        raise SystemExit(f"{argv}: {done.exit_code} {done.stderr.decode()[-300:]}")
    return took


def pairs(
    spawner: Spawner, argv: str | tuple[str, ...], rounds: int, cwd: str = "/", reads: bool = False
) -> list[tuple[float, float]]:
    once(spawner, argv, True, cwd, reads)
    return [(once(spawner, argv, False, cwd), once(spawner, argv, True, cwd, reads)) for _ in range(rounds)]


@contextlib.contextmanager
def busy(wanted: bool) -> Iterator[None]:
    stop = threading.Event()

    def compute() -> None:
        while not stop.is_set():
            sum(range(1000))

    thread = threading.Thread(target=compute)
    if wanted:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        if wanted:
            thread.join()


def npm_project(folder: Path) -> bool:
    """A project with packages beside it. False without npm."""
    if shutil.which("npm") is None:
        return False
    wanted = []
    for number in range(PACKAGES):
        package = folder / "packages" / f"p{number}"
        package.mkdir(parents=True)
        script = '{"postinstall": "node -e 1"}'
        (package / "package.json").write_text(
            f'{{"name": "p{number}", "version": "1.0.0", "scripts": {script}}}'
        )
        wanted.append(f'"p{number}": "file:packages/p{number}"')
    (folder / "package.json").write_text(
        f'{{"name": "x", "version": "1.0.0", "dependencies": {{{", ".join(wanted)}}}}}'
    )
    return True


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    arguments.add_argument("--rounds", type=int, default=15)
    arguments.add_argument("--starts", type=int, default=2000)
    arguments.add_argument("--fastest", action="store_true")
    given = arguments.parse_args()
    status = guard_status()
    if not status.holds:
        print(status.why)
        return 1
    broken = 0

    def show(label: str, found: list[tuple[float, float]], limit: float, per: int = 0) -> None:
        """`per` starts in each run: the limit is in milliseconds for each; without it, it is a ratio."""
        nonlocal broken
        if given.fastest:
            found = [(min(one for one, _ in found), min(other for _, other in found))]
        cost = statistics.median(other - one for one, other in found) * 1000
        ratio = statistics.median(other / one for one, other in found)
        value = cost / per if per else ratio
        is_broken = value > limit
        broken += is_broken
        unit = "ms more" if per else "times"
        print(f"{label:44} {value:8.3f} {unit:8} limit {limit:<5} {'BROKEN' if is_broken else 'holds'}")

    starts = f"for ((i = 0; i < {given.starts}; i++)); do /bin/true; done"
    few = "for ((i = 0; i < 100; i++)); do /bin/true; done"
    with Spawner(lambda origin: True) as spawner:
        for is_busy in (False, True):
            beside = ", beside a busy thread" if is_busy else ""
            with busy(is_busy):
                show(f"a command{beside}", pairs(spawner, ("/bin/true",), given.rounds * 4), 1.5, 1)
                reading = pairs(spawner, ("/bin/true",), given.rounds * 4, reads=True)
                show(f"a command that only reads{beside}", reading, 3.5, 1)
                show(f"a start{beside}", pairs(spawner, few, given.rounds), 0.5, 100)
        show(f"{given.starts} starts from bash", pairs(spawner, starts, max(3, given.rounds // 3)), 1.4)
        with tempfile.TemporaryDirectory(prefix="checkrein-npm-") as folder:
            if npm_project(Path(folder)):
                once(spawner, "npm install --offline --no-audit --no-fund", False, folder)
                line = "npm ci --offline --no-audit --no-fund"
                show("npm ci, offline", pairs(spawner, line, max(3, given.rounds // 3), folder), 1.1)
            else:
                print("npm ci: skipped, npm is not installed")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
