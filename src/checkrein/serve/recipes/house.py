"""Everything that runs of recipes need on this machine, opened from the configuration."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from checkrein.base.errors import UsageError
from checkrein.base.nearest import did_you_mean
from checkrein.recipes.database import Database, database_at, user_name
from checkrein.recipes.desk import Desk
from checkrein.recipes.engine import Engine, QueueTerms
from checkrein.recipes.machine import machine_id, new_worker
from checkrein.recipes.queues import DEFAULT, PRIORITY
from checkrein.recipes.views import OVER, RunView
from checkrein.recipes.worker import Staff, Worker
from checkrein.recipes.workspace import workplace_of
from checkrein.serve.recipes.doorbell import Doorbell
from checkrein.serve.recipes.kitchen_steps import KitchenSteps
from checkrein.serve.recipes.project_recipes import ProjectRecipes
from checkrein.serve.recipes.workspace_trust import require_trust

if TYPE_CHECKING:
    from checkrein.model.recipe_plan import Plan
    from checkrein.recipes.database import RunRow
    from checkrein.recipes.port import Watcher, Workplace
    from checkrein.runtime.session.options import Options

_LOOK, _CARE = 0.05, 0.5
_PEOPLE = ("confirm", "reconcile", "pause")


class Ask(Struct, frozen=True, kw_only=True):
    """What whoever starts a run may choose."""

    queue: str = DEFAULT
    priority: int = PRIORITY


class House:
    def __init__(self, home: Path, database: Database, queues: Mapping[str, QueueTerms]) -> None:
        self.home = home
        self.database = database
        self.engine = Engine(database.url)
        self.desk = Desk(database, self.engine)
        self._queues = queues

    def close(self) -> None:
        self.engine.close()
        self.database.close()

    def add(self, plan: Plan, cwd: str, ask: Ask, line: str | None = None) -> str:
        known = (DEFAULT, *self._queues)
        if ask.queue not in known:
            raise UsageError(
                f"There is no queue {ask.queue!r}.{did_you_mean(ask.queue, known)}",
                hint="recipes.queues in the configuration declares them.",
            )
        return self.desk.add(
            plan,
            cwd=cwd,
            machine=machine_id(self.home),
            by=user_name(),
            queue=ask.queue,
            priority=ask.priority,
            line=line,
        )

    @contextmanager
    def worker(self, kind: str, options: Options, watcher: Watcher) -> Iterator[Worker]:
        """A worker with the rights of these options."""
        me = new_worker(self.home, kind)
        steps = KitchenSteps(options)
        staff = Staff(
            runner=steps,
            workplace=lambda row, plan, confirm: self._workplace(row, plan, confirm, options),
            dispatcher=lambda row, plan: ProjectRecipes(row.cwd, plan.enabled),
            bell=lambda row: Doorbell(steps, row.cwd),
            watcher=watcher,
        )
        try:
            with Worker(self.database, self.engine, me, staff, self._queues) as worker:
                yield worker
        finally:
            steps.close()

    def _workplace(self, row: RunRow, plan: Plan, confirm: Callable[[], None], options: Options) -> Workplace:
        require_trust(plan, row.cwd if row.machine == machine_id(self.home) else None, options)
        return workplace_of(row, plan, self.home, confirm)

    def run_here(
        self,
        plan: Plan,
        cwd: str,
        ask: Ask,
        options: Options,
        watcher: Watcher,
        begun: Callable[[str], None] = lambda run: None,
    ) -> RunView:
        """Run in this process until the run is over or waits for a person. `begun` gets its name."""
        require_trust(plan, cwd, options)
        with self.worker("own", options, watcher) as worker:
            run = self.add(plan, cwd, ask, worker.queue)
            begun(run)
            self._settled(run)
        return self.desk.view(run)

    def go_on_here(self, run: str, options: Options, watcher: Watcher) -> RunView:
        """Go on in this process with a run that waits, is queued, or has lost its worker. Where there are
        workers they have it, and this process watches."""
        row = self.desk.row(run)
        with self.worker("own", options, watcher) as worker:
            self._settled(row.id, lambda: self._take(row.id, worker))
        return self.desk.view(row.id)

    def _take(self, run: str, worker: Worker) -> None:
        stays = "@" in self.desk.row(run).queue
        pool = [one for one in self.database.workers("live") if one.kind == "pool"]
        if any(one.machine == worker.me.machine or not stays for one in pool):
            return
        family = self.engine.family(run)
        lost = [one.id for one in family if one.status == "ENQUEUED" and one.queue != worker.queue]
        if lost:
            self.engine.move(lost, worker.queue)
        worker.wake(run)

    def _settled(self, run: str, care: Callable[[], None] = lambda: None) -> None:
        """Until it is over, or needs somebody."""
        next_care = 0.0
        while True:
            if time.monotonic() >= next_care:
                care()
                next_care = time.monotonic() + _CARE
            state = self.desk.state(run)
            if state in OVER or (state in ("waiting", "paused") and self._needs_people(run)):
                return
            time.sleep(_LOOK)

    def _needs_people(self, run: str) -> bool:
        waits = [one.wait for one in self.database.waits(run) if one.wait.kind != "branches"]
        asked = [one for one in waits if one.kind in _PEOPLE]
        return bool(waits) and asked == waits and not any(self.database.answer(run, one) for one in asked)

    def work(self, options: Options, watcher: Watcher, stop: threading.Event) -> None:
        """Take runs of the queues until somebody says stop."""
        with self.worker("pool", options, watcher):
            stop.wait()


@contextmanager
def open_house(root: str, env: Mapping[str, str] | None = None) -> Iterator[House]:
    from checkrein.base.config import load_config
    from checkrein.base.home import checkrein_home
    from checkrein.facts.config import KEYS

    env = os.environ if env is None else env
    home = checkrein_home(env)
    config = load_config(KEYS, Path(root), home, env)
    limits: dict[str, Any] = config.get("recipes.queues")
    queues = {name: msgspec.convert(one, QueueTerms) for name, one in limits.items()}
    house = House(home, database_at(home, config.get("recipes.database")), queues)
    house.desk.prepare()
    try:
        yield house
    finally:
        house.close()
