"""What every worker does once in a second for all runs: bury dead workers, wake runs whose wait is over."""

from __future__ import annotations

from checkrein.base import clock
from checkrein.recipes.database import Database, WaitRow, WorkerRow
from checkrein.recipes.engine import BodyRow, Engine, body_id
from checkrein.recipes.machine import end_worker, is_gone
from checkrein.recipes.queues import own_queue, queue_for


class Sweep:
    def __init__(self, database: Database, engine: Engine, me: WorkerRow) -> None:
        self._database = database
        self._engine = engine
        self._me = me

    def adopt(self) -> list[str]:
        """Take the runs of dead workers: those without a beat, and those whose process here is over.
        Gives the workers that were buried.

        First the fence, then the end of its processes, then the runs: whoever dies between them leaves the
        rest to the next one. On another machine nobody can end processes, so a worker there goes first."""
        buried = []
        others = [one for one in self._database.workers("live") if one.id != self._me.id]
        gone = [one for one in others if one.machine == self._me.machine and is_gone(one)]
        dead = {one.id: one for one in (*gone, *self._database.silent())}
        live = {one.machine for one in others if one.id not in dead}
        for row in dead.values():
            is_here = row.machine == self._me.machine
            if row.id == self._me.id or (not is_here and row.machine in live):
                continue
            if row.state == "live" and not self._database.fence(row.id, at_once=row in gone):
                continue
            if is_here:
                end_worker(row)
            for body in self._engine.held(row.id, own_queue(row.id)):
                self._take(body)
            if row.kind == "own":
                self._engine.drop_queue(own_queue(row.id))
            self._database.bury(row.id)
            buried.append(row.id)
        return buried

    def gather(self) -> None:
        """Take what a worker has claimed after its burial: one that stood still on another machine may wake
        up in the middle of a claim. A worker is registered before its first claim, so the order counts."""
        begun = self._engine.pending()
        known = {one.id for one in self._database.workers("live", "dead")}
        for body in begun:
            if body.worker not in known:
                self._take(body)

    def _take(self, body: BodyRow) -> None:
        run = self._database.run(body.id.partition(":")[0])
        if run is not None:
            self._engine.take(body, body.worker, queue_for(run, body.id))

    def wake(self, only: str | None = None) -> list[str]:
        """Let bodies go on whose wait is over. A live worker of a single command wakes its own; everything
        else is for the pool."""
        woken: list[str] = []
        waits = self._database.waits(only)
        if not waits:
            return woken
        waiting = {one.body for one in waits}
        alone = {one.id for one in self._database.workers("live") if one.kind == "own"}
        answered = self._database.answered()
        for row in waits:
            is_mine = row.worker == self._me.id or only is not None
            if not is_mine and (row.worker in alone or self._me.kind == "own"):
                continue
            if not self._is_over(row, waiting, answered):
                continue
            run = self._database.run(row.run_id)
            if run is None or run.want == "cancel":
                continue
            queue = own_queue(self._me.id) if self._me.kind == "own" else queue_for(run, row.body)
            woke = self._engine.wake(row.body, queue)
            if woke is not None:
                self._database.end_wait(row.body, row.since)
            if woke:
                woken.append(row.body)
        return woken

    def _is_over(self, row: WaitRow, waiting: set[str], answered: set[tuple[str, str, int]]) -> bool:
        wait = row.wait
        match wait.kind:
            case "confirm" | "reconcile":
                return (row.run_id, wait.path, wait.round) in answered
            case "timer":
                return wait.until is not None and wait.until <= clock.now()
            case "pause":
                return self._database.wanted([row.run_id]).get(row.run_id) == "run"
            case "branches":
                return any(body_id(row.run_id, path) not in waiting for path in wait.branches)
            case "handover":
                return row.worker != self._me.id
        return False
