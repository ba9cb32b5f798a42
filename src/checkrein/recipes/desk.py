"""What people and programs do with runs: start, look, answer, pause, cancel. Nothing here executes a step."""

from __future__ import annotations

from typing import Any

import msgspec

from checkrein.base import clock
from checkrein.base.errors import NotFoundError, RunError
from checkrein.base.ids import new_uuid
from checkrein.base.nearest import did_you_mean
from checkrein.model.recipe_plan import Plan
from checkrein.recipes.database import Database, Doing, RunRow, WaitRow, WorkerRow
from checkrein.recipes.engine import BodyRow, Engine
from checkrein.recipes.journal import Answer, Verdict
from checkrein.recipes.queues import DEFAULT, PRIORITY, run_queue
from checkrein.recipes.views import OVER, Line, Running, RunState, RunView, WorkerView


class Desk:
    def __init__(self, database: Database, engine: Engine) -> None:
        self._database = database
        self._engine = engine

    def prepare(self) -> None:
        """Make what is missing in the database. Workers need it too."""
        self._database.reach()
        with self._database.alone():
            self._database.create()
            self._engine.prepare()

    def add(
        self,
        plan: Plan,
        *,
        cwd: str,
        machine: str,
        by: str,
        queue: str = DEFAULT,
        priority: int = PRIORITY,
        line: str | None = None,
    ) -> str:
        """Put a run into its queue. `line` is another queue that takes it first."""
        run = f"r-{new_uuid()[:13]}"
        stays = not self._database.is_sqlite and plan.workspace is None
        name = run_queue(queue, machine if stays else None, priority)
        self._database.add_run(
            RunRow(
                id=run,
                recipe=plan.name,
                plan=msgspec.json.encode(plan).decode(),
                cwd=cwd,
                queue=name,
                machine=machine,
                want="run",
                by=by,
                created=clock.now(),
            )
        )
        self._engine.start(run, line or name, priority)
        return run

    def row(self, run: str) -> RunRow:
        """The run of that name or of a beginning of it."""
        found = self._database.run(run)
        if found is not None:
            return found
        known = [one.id for one in self._database.runs(500)]
        near = [one for one in known if one.startswith(run)]
        if len(near) == 1:
            return self.row(near[0])
        raise NotFoundError(
            f"There is no run {run!r}.{did_you_mean(run, known)}",
            kind="run_not_found",
            hint="`checkrein recipe status` lists them.",
        )

    def views(self, limit: int = 50) -> list[RunView]:
        return [self._view(row, self._engine.bodies([row.id]), ()) for row in self._database.runs(limit)]

    def view(self, run: str) -> RunView:
        row = self.row(run)
        return self._view(row, self._engine.family(row.id), self.lines(row.id))

    def state(self, run: str) -> RunState:
        row = self.row(run)
        body = self._engine.body(row.id)
        return _state(row, body) if body else "queued"

    def lines(self, run: str) -> tuple[Line, ...]:
        """The journals of all bodies of a run, in the order of time."""
        found = [
            Line(
                run_id=run,
                name=name,
                entry=entry,
                began=began,
                ended=ended,
                branch=body.id.partition(":")[2],
            )
            for body in self._engine.family(run)
            for name, entry, began, ended in self._engine.entries(body.id)
        ]
        return tuple(sorted(found, key=lambda one: (one.ended, one.began)))

    def answer(self, run: str, step: str, verdict: Verdict, by: str, result: dict[str, Any]) -> WaitRow:
        """Write down what a person says. A worker goes on with it."""
        row = self.row(run)
        kinds = ("confirm",) if verdict in ("approve", "reject") else ("reconcile",)
        waits = [one for one in self._database.waits(row.id) if one.wait.kind in kinds]
        chosen = [one for one in waits if step in (one.wait.path, one.wait.path.rpartition("/")[2])]
        if len(chosen) != 1:
            names = [one.wait.path for one in waits]
            wanted = "an answer" if verdict in ("approve", "reject") else "a reconcile"
            raise NotFoundError(
                f"{len(chosen)} steps {step!r} of {row.id} wait for {wanted}.{did_you_mean(step, names)}",
                kind="step_not_waiting",
                hint=f"Waiting: {', '.join(names)}." if names else "Nothing of it waits for a person now.",
            )
        answer = Answer(verdict=verdict, by=by, at=clock.now(), result=result)
        if not self._database.add_answer(row.id, chosen[0].wait, answer):
            raise RunError(f"{chosen[0].wait.path} has an answer already.", kind="already_answered")
        return chosen[0]

    def pause(self, run: str) -> RunRow:
        row = self._open(run, "pause")
        self._database.want(row.id, "pause")
        return row

    def go_on(self, run: str) -> RunRow:
        row = self._open(run, "go on")
        self._database.want(row.id, "run")
        return row

    def cancel(self, run: str) -> RunRow:
        """From this moment no record of the run is accepted; its worker ends the processes."""
        row = self._open(run, "be cancelled")
        self._database.want(row.id, "cancel")
        for body in self._engine.family(row.id):
            self._engine.cancel(body.id)
        for wait in self._database.waits(row.id):
            self._database.end_wait(wait.body)
        return row

    def _open(self, run: str, verb: str) -> RunRow:
        row = self.row(run)
        state = self.state(row.id)
        if state in OVER:
            raise RunError(f"{row.id} can't {verb}: it is {state}.", kind="run_over")
        return row

    def _view(self, row: RunRow, family: list[BodyRow], steps: tuple[Line, ...]) -> RunView:
        top = next((one for one in family if one.id == row.id), None)
        resting = {one.id for one in family if one.end is not None and one.end.state == "waiting"}
        kept = [one for one in self._database.waits(row.id) if one.body in resting]
        waits = tuple(one.wait for one in kept if one.wait.kind != "branches")
        end = top.end if top else None
        return RunView(
            run_id=row.id,
            recipe=row.recipe,
            state=_state(row, top) if top else "queued",
            created=row.created,
            updated=max((one.updated for one in family), default=row.created),
            queue=row.queue,
            step=end.step if end else "",
            message=(end.message if end else "") or (top.error if top else ""),
            is_failure=bool(end and end.is_failure),
            captured=end.captured if end else {},
            worker=top.worker if top else "",
            usd=sum(one.entry.usd for one in steps),
            tokens=sum(one.entry.tokens for one in steps),
            waits=waits,
            running=self._running(row.id) if steps or family else (),
            steps=steps,
        )

    def workers(self) -> list[WorkerView]:
        return [
            WorkerView(
                worker=one.id,
                machine=one.machine,
                kind=one.kind,
                pid=one.pid,
                began=one.began,
                running=_doing(one),
            )
            for one in self._database.workers("live")
        ]

    def _running(self, run: str) -> tuple[Running, ...]:
        every = (one for worker in self._database.workers("live") for one in _doing(worker))
        return tuple(one for one in every if one.run_id == run)


def _state(row: RunRow, body: BodyRow | None) -> RunState:
    if row.want == "cancel":
        return "cancelled"
    if body is None or body.status in ("ENQUEUED", "DELAYED"):
        return "queued"
    if body.status == "PENDING":
        return "running"
    if body.status == "CANCELLED":
        return "cancelled"
    if body.end is None:
        return "crashed"
    if body.end.state == "waiting":
        return "paused" if row.want == "pause" else "waiting"
    return body.end.state


def _doing(worker: WorkerRow) -> tuple[Running, ...]:
    found = msgspec.json.decode(worker.doing, type=list[Doing])
    return tuple(
        Running(run_id=one.run_id, path=one.path, since=one.since, worker=worker.id) for one in found
    )
