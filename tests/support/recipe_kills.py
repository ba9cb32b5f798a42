"""Workers that are killed, stopped and continued at random, and what the world outside saw of their runs."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from checkrein.model.recipe_plan import Plan
from support.recipe_plans import body, plan, step
from support.recipe_staff import Shop, Sink

STAFF = Path(__file__).with_name("recipe_staff.py")


def long_plan() -> Plan:
    """Thirty step instances: pure, keyed and once, side by side and item after item."""

    def chain(prefix: str, effects: str, last: str = "done") -> list[Any]:
        kinds = {"p": "pure", "k": "keyed", "o": "once"}
        names = [f"{prefix}{number}" for number in range(len(effects))]
        following = [*names[1:], last]
        return [
            step(name, to=to, effect=kinds[letter], retries=2, with_args={"again": 1 if letter == "p" else 0})
            for name, to, letter in zip(names, following, effects)
        ]

    both = step(
        "both",
        "parallel",
        None,
        "each",
        bodies=(body(*chain("l", "pkkp"), name="left"), body(*chain("r", "kpkk"), name="right")),
    )
    each = step(
        "each",
        "foreach",
        "x,y,z",
        "walk",
        limit=2,
        bodies=(body(*chain("i", "kp"), name="body"),),
    )
    walk = step("walk", "foreach", "1,2", "e0", bodies=(body(*chain("w", "k"), name="body"),))
    return plan(*chain("s", "pkokp", "both"), both, each, walk, *chain("e", "kpok"))


class Campaign:
    """`home` is shared by workers of one machine; with PostgreSQL every worker has a home of its own."""

    def __init__(self, home: Path, url: str | None, *, lease: float, seconds: float, seed: int) -> None:
        self.home = home
        self.url = url
        self.lease = lease
        self.seconds = seconds
        self.random = random.Random(seed)
        self.sink = Sink(home / "sink.sqlite")
        self.shop = Shop(home, url, lease)
        self.workers: list[subprocess.Popen[bytes]] = []
        self.stopped: set[int] = set()

    def hire(self) -> None:
        home = self.home if self.url is None else self.home / f"machine-{len(self.workers) % 3}"
        paths = (str(STAFF.parents[1]), str(STAFF.parents[2] / "src"))
        command = (
            sys.executable,
            str(STAFF),
            str(home),
            self.url or "",
            str(self.home / "sink.sqlite"),
            str(self.lease),
            str(self.seconds),
        )
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        self.workers.append(subprocess.Popen(command, env=env, start_new_session=True))

    def add(self, count: int) -> list[str]:
        shared = replace(long_plan(), workspace=None if self.shop.database.is_sqlite else "shared")
        return [self.shop.desk.add(shared, cwd="", machine="m", by="ann") for _ in range(count)]

    def hurt(self) -> str:
        """Kill, stop or continue one of them."""
        alive = [one for one in self.workers if one.poll() is None]
        if not alive:
            return "none"
        victim = self.random.choice(alive)
        if victim.pid in self.stopped:
            self.stopped.discard(victim.pid)
            victim.send_signal(signal.SIGCONT)
            return "continued"
        if self.random.random() < 0.5:
            self.stopped.add(victim.pid)
            victim.send_signal(signal.SIGSTOP)
            return "stopped"
        victim.kill()
        victim.wait()
        return "killed"

    def replace_dead(self, count: int) -> None:
        self.workers = [one for one in self.workers if one.poll() is None]
        while len(self.workers) < count:
            self.hire()

    def open_runs(self, runs: list[str]) -> list[str]:
        """Those that are neither over nor at a reconcile."""
        return [run for run in runs if not self._rests(run)]

    def _rests(self, run: str) -> bool:
        if self.shop.desk.state(run) not in ("queued", "running", "waiting"):
            return True
        waits = [one.wait.kind for one in self.shop.database.waits(run) if one.wait.kind != "branches"]
        return self.shop.desk.state(run) == "waiting" and set(waits) == {"reconcile"}

    def reconcile(self, runs: list[str]) -> int:
        """Look into the sink, as a person would, and say what happened."""
        answered = 0
        for run in runs:
            for row in self.shop.database.waits(run):
                if row.wait.kind == "reconcile" and self.shop.database.answer(run, row.wait) is None:
                    happened = f"{run}/{row.wait.path}" in self.sink.happened("once")
                    self.shop.desk.answer(run, row.wait.path, "done" if happened else "again", "ann", {})
                    answered += 1
        return answered

    def close(self) -> None:
        for one in self.workers:
            with contextlib.suppress(ProcessLookupError):
                one.kill()
            one.wait()
        self.shop.close()

    def journal(self, run: str) -> list[tuple[str, str, str]]:
        """What must be equal for equal runs: bodies, steps, states; not times, ids, attempts at a start."""
        entries = [(one.branch, one.entry) for one in self.shop.desk.lines(run)]
        return sorted({(branch, one.path, one.state) for branch, one in entries if one.state != "started"})

    def wait(self, runs: list[str], seconds: float) -> None:
        limit = time.monotonic() + seconds
        while left := self.open_runs(runs):
            assert time.monotonic() < limit, [self.shop.desk.view(run) for run in left[:2]]
            self.reconcile(runs)
            self.replace_dead(1)
            time.sleep(0.1)
