"""A worker of recipes for tests: steps that write into a sink, in this process or as a program.

python recipe_staff.py HOME [DATABASE]    a worker of the pool, until it is killed
"""

from __future__ import annotations

import os
import sqlite3
import sys
import time
from pathlib import Path

from checkrein.llm.cancel import Cancel
from checkrein.recipes.database import LEASE, Database, database_at
from checkrein.recipes.desk import Desk
from checkrein.recipes.engine import Engine, QueueTerms
from checkrein.recipes.fake import Here, Quiet, Recipes
from checkrein.recipes.machine import new_worker
from checkrein.recipes.outcome import Outcome
from checkrein.recipes.port import StepRunner, Task
from checkrein.recipes.worker import Staff, Worker


class Sink:
    """The world outside: a keyed effect counts once for its key, a `once` effect each time."""

    def __init__(self, file: Path) -> None:
        self._file = file
        with self._open() as connection:
            connection.execute("CREATE TABLE IF NOT EXISTS keyed (key TEXT PRIMARY KEY)")
            connection.execute("CREATE TABLE IF NOT EXISTS happened (key TEXT, kind TEXT)")

    def _open(self) -> sqlite3.Connection:
        return sqlite3.connect(self._file, timeout=60)

    def take(self, key: str, effect: str) -> None:
        with self._open() as connection:
            if effect == "keyed":
                connection.execute("INSERT OR IGNORE INTO keyed VALUES (?)", (key,))
            connection.execute("INSERT INTO happened VALUES (?, ?)", (key, effect))

    def keyed(self) -> list[str]:
        with self._open() as connection:
            return [row[0] for row in connection.execute("SELECT key FROM keyed ORDER BY key")]

    def happened(self, effect: str) -> list[str]:
        with self._open() as connection:
            query = "SELECT key FROM happened WHERE kind = ? ORDER BY key"
            return [row[0] for row in connection.execute(query, (effect,))]


class SinkSteps:
    """Each step does its effect and gives its arguments back."""

    def __init__(self, sink: Sink, seconds: float = 0.0) -> None:
        self._sink = sink
        self._seconds = seconds

    def do(self, task: Task, cancel: Cancel) -> Outcome:
        if self._seconds:
            cancel.wait(self._seconds)
        self._sink.take(task.key, task.effect)
        if task.arguments.get("again") == task.attempt:
            return Outcome(state="again", reason="stale")
        return Outcome(state="success", result={"success": True, **task.arguments})


def staff_of(runner: StepRunner, quiet: Quiet | None = None) -> Staff:
    quiet = quiet or Quiet()
    return Staff(
        runner=runner,
        workplace=lambda row, plan, confirm: Here(row.cwd),
        dispatcher=lambda row, plan: Recipes(),
        bell=lambda row: quiet,
        watcher=quiet,
    )


class Shop:
    """A database, a desk and workers in this process."""

    def __init__(self, home: Path, url: str | None = None, lease: float = LEASE) -> None:
        self.home = home
        self.database: Database = database_at(home, url, lease)
        self.engine = Engine(self.database.url)
        self.desk = Desk(self.database, self.engine)
        self.desk.prepare()

    def worker(self, runner: StepRunner, queues: dict[str, QueueTerms] | None = None) -> Worker:
        return Worker(self.database, self.engine, new_worker(self.home, "pool"), staff_of(runner), queues)

    def settled(self, run: str, seconds: float = 30.0) -> str:
        limit = time.monotonic() + seconds
        while (state := self.desk.state(run)) in ("queued", "running"):
            assert time.monotonic() < limit, f"{run} is still {state}"
            time.sleep(0.02)
        return state

    def close(self) -> None:
        self.engine.close()
        self.database.close()


def main() -> None:
    home, url, sink, lease, seconds = sys.argv[1:]
    shop = Shop(Path(home), url or None, float(lease))
    with shop.worker(SinkSteps(Sink(Path(sink)), float(seconds))):
        (Path(home) / f"ready-{os.getpid()}").touch()
        time.sleep(3600)


if __name__ == "__main__":
    main()
