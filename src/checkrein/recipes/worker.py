"""A worker process: claims runs, executes their bodies, shows that it lives, and looks after the dead."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from typing import Literal, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace
from sqlalchemy.exc import InterfaceError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from checkrein.llm.cancel import Cancel
from checkrein.model.recipe_plan import Plan
from checkrein.recipes.database import BEATS, Database, Doing, RunRow, WaitRow, WorkerRow
from checkrein.recipes.engine import Engine, EngineBody, Executor, Order, QueueTerms, body_id
from checkrein.recipes.interpreter import Crew, Interpreter
from checkrein.recipes.journal import End, Entry
from checkrein.recipes.machine import end_worker, marking
from checkrein.recipes.port import Bell, Dispatcher, StepRunner, Watcher, Workplace
from checkrein.recipes.queues import open_own_queue, open_queues, own_queue, queue_for
from checkrein.recipes.sweep import Sweep

T = TypeVar("T")
_FENCED = 75
"""The exit status of a worker that somebody declared dead."""


class Staff(Struct, frozen=True, kw_only=True):
    """What the program that runs a worker gives to its runs."""

    runner: StepRunner
    workplace: Callable[[RunRow, Plan, Callable[[], None]], Workplace]
    dispatcher: Callable[[RunRow, Plan], Dispatcher]
    bell: Callable[[RunRow], Bell]
    watcher: Watcher


class Worker:
    """Use it in `with`. `kind` own takes only what it is given; pool takes runs of the queues."""

    def __init__(
        self,
        database: Database,
        engine: Engine,
        me: WorkerRow,
        staff: Staff,
        queues: Mapping[str, QueueTerms] | None = None,
    ) -> None:
        self.me = me
        self._database = database
        self._engine = engine
        self._staff = staff
        self._queues = queues or {}
        self._sweep = Sweep(database, engine, me)
        self._plans: dict[str, tuple[RunRow, Plan]] = {}
        self._cancels: dict[str, tuple[str, Cancel]] = {}
        self._doing: dict[str, Doing] = {}
        self._wanted: dict[str, str] = {}
        self._lock = threading.Lock()
        self._last_beat = time.monotonic()
        self._leaves = False
        self._marking = marking(me.mark)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._live, name="checkrein-beat", daemon=True)

    def __enter__(self) -> Worker:
        self._marking.__enter__()
        machine = None if self._database.is_sqlite else self.me.machine
        names = (
            open_own_queue(self._engine, self.me.id)
            if self.me.kind == "own"
            else open_queues(self._engine, self._queues, machine)
        )
        self._database.add_worker(self.me)
        self._last_beat = time.monotonic()
        self._thread.start()
        self._executor = Executor(self._database.url, self.me.id, names, self._execute)
        self._executor.launch()
        return self

    def __exit__(self, *exception: object) -> None:
        """Steps that run go on to their end, if it comes soon; then others take the runs."""
        self.leave()
        self._ended.set()
        self._thread.join(5)
        self._executor.close()
        for body in self._engine.held(self.me.id, own_queue(self.me.id)):
            run = self._database.run(body.id.partition(":")[0])
            if run is not None:
                self._engine.take(body, self.me.id, queue_for(run, body.id))
        if self.me.kind == "own":
            self._engine.drop_queue(own_queue(self.me.id))
        self._database.bury(self.me.id)
        self._marking.__exit__(None, None, None)

    @property
    def queue(self) -> str:
        return own_queue(self.me.id)

    def leave(self, patience: float = 10.0) -> None:
        """Begin no step any more, and wait a while for those that run."""
        self._leaves = True
        limit = time.monotonic() + patience
        while self._cancels and time.monotonic() < limit:
            time.sleep(0.05)
        with self._lock:
            rest = list(self._cancels.values())
        for _, cancel in rest:
            cancel.force()

    def wake(self, run: str) -> list[str]:
        """Wake what waits of a run, into this worker's own queue."""
        return self._sweep.wake(run)

    def _execute(self, order: Order) -> End:
        run, branch = order.run_id, order.branch
        row, plan = self._plan(run)
        if branch.plan is not None:
            plan = msgspec.convert(branch.plan, Plan)
        body, cancel = body_id(run, branch.path), Cancel()
        with self._lock:
            self._cancels[body] = (run, cancel)
        try:
            durable = EngineBody(
                run,
                self._engine,
                answer=lambda wait: self._patient(lambda: self._database.answer(run, wait)),
                interruption=lambda: self._interruption(run),
                assure=self._assure,
            )
            crew = Crew(
                runner=self._staff.runner,
                workplace=self._staff.workplace(row, plan, self._confirm),
                dispatcher=self._staff.dispatcher(row, plan),
                bell=self._staff.bell(row),
                watcher=_Watched(self, run),
                worker=self.me.id,
            )
            at = Interpreter(
                run,
                plan,
                durable,
                crew,
                cancel=cancel,
                branch=branch.path,
                place=branch.place,
                own_plan=branch.plan,
            )
            end = at.run(branch.context)
        finally:
            with self._lock:
                self._cancels.pop(body, None)
        if end.state == "waiting":
            wait = WaitRow(body=body, run_id=run, worker=self.me.id, since=time.time(), wait=end.waits[0])
            self._patient(lambda: self._database.add_wait(wait))
        return end

    def _plan(self, run: str) -> tuple[RunRow, Plan]:
        row = self._patient(lambda: self._database.run(run))
        if row is None:
            raise LookupError(f"there is no run {run}")
        self._wanted[run] = row.want
        found = self._plans.get(run)
        if found is None:
            found = self._plans[run] = (row, msgspec.json.decode(row.plan, type=Plan))
        return found

    def _interruption(self, run: str) -> Literal["pause", "handover"] | None:
        if self._leaves:
            return "handover"
        return "pause" if self._wanted.get(run) == "pause" else None

    def _assure(self) -> None:
        """Nothing starts after the time of a lease in which the process stood still, or could not reach the
        database, before a beat says that it still counts."""
        while time.monotonic() - self._last_beat > self._database.lease:
            self._patient(self._beat)

    def _confirm(self) -> None:
        """One more beat, before something that a worker without its runs must not do."""
        self._patient(self._beat)
        self._assure()

    def _patient(self, work: Callable[[], T]) -> T:
        """Until it succeeds: a database that is away, or has no room, is no end of a run. The engine does
        the same with its own tables."""
        while True:
            try:
                return work()
            except (OperationalError, InterfaceError, PoolTimeout):
                if self._ended.is_set():
                    raise
                time.sleep(self._database.lease / BEATS)

    def note(self, run: str, path: str, entry: Entry | None) -> None:
        with self._lock:
            if entry is None:
                self._doing[f"{run}/{path}"] = Doing(run, path, time.time())
            else:
                self._doing.pop(f"{run}/{path}", None)
        self._staff.watcher.saw(path, entry)

    def _live(self) -> None:
        while not self._ended.wait(self._database.lease / BEATS):
            try:
                self._beat()
                if not self._leaves:
                    self._sweep.adopt()
                    self._sweep.gather()
                    self._sweep.wake()
            except SQLAlchemyError:
                continue

    def _beat(self) -> None:
        with self._lock:
            doing = msgspec.json.encode(list(self._doing.values())).decode()
            runs = {run for run, _ in self._cancels.values()}
        if not self._database.beat(self.me.id, doing):
            if self._ended.is_set():
                return
            self._give_up()
        self._last_beat = time.monotonic()
        wanted = self._database.wanted(runs) if runs else {}
        self._wanted |= wanted
        with self._lock:
            stops = [one for run, one in self._cancels.values() if wanted.get(run) == "cancel"]
            for run in set(self._plans) - runs:
                self._plans.pop(run)
        for cancel in stops:
            cancel.cancel()

    def _give_up(self) -> None:
        """Others have our runs. Nothing of ours may go on, not even for a moment."""
        end_worker(replace(self.me, birth=""))
        os._exit(_FENCED)


class _Watched:
    def __init__(self, worker: Worker, run: str) -> None:
        self._worker = worker
        self._run = run

    def saw(self, path: str, entry: Entry | None) -> None:
        self._worker.note(self._run, path, entry)
