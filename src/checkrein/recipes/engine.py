"""DBOS behind the port: bodies of runs are its workflows, entries are its steps.

Only this module and those that get something from it know DBOS. Its ownership token is the fence: a claim
writes a new one, and a record of a worker that lost the claim is refused in the same transaction.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

import msgspec
from dbos import DBOS, DBOSClient, DBOSConfig, Serializer, SetWorkflowID, error
from msgspec import Struct
from sqlalchemy import make_url

from checkrein.recipes.journal import Answer, End, Entry, Wait
from checkrein.recipes.port import Branch

APPLICATION = "checkrein"
FORMAT = "recipes-1"
"""Changes when journals of before can't be read any more."""
BODY = "checkrein_body"
_LAST = 2**31 - 1
_DEATHS = 100
"""Workers that a body may take with it before it is left alone."""
_FIRST_LOOK, _LONGEST_LOOK = 0.005, 0.2
_OPEN = ("PENDING", "ENQUEUED", "DELAYED")


class Order(Struct, frozen=True, kw_only=True):
    """What the engine keeps of a body: of which run it is, and what it begins with."""

    run_id: str
    branch: Branch


Execute = Callable[[Order], End]


class PlainJson(Serializer):
    """Values as JSON. Pickles would be code that whoever writes the database could choose."""

    def serialize(self, data: Any) -> str:
        return msgspec.json.encode(data, enc_hook=_plain).decode()

    def deserialize(cls, serialized_data: str) -> Any:  # noqa: N805  the base class has it so
        found = json.loads(serialized_data)
        return (
            RuntimeError(found["error"]) if isinstance(found, dict) and found.keys() == {"error"} else found
        )

    def name(self) -> str:
        return "checkrein_json"


def _silence() -> None:
    """The engine's own log would go to standard error, between the lines of a command."""
    log = logging.getLogger("dbos")
    log.setLevel(logging.CRITICAL)
    log.propagate = False
    if not log.handlers:
        log.addHandler(logging.NullHandler())


def _plain(value: Any) -> Any:
    if isinstance(value, BaseException):
        return {"error": f"{type(value).__name__}: {value}"}
    return str(value)


class QueueTerms(Struct, frozen=True, kw_only=True):
    """`concurrency` limits a queue over all workers, `per_worker` on each, `starts` within `period`
    seconds."""

    concurrency: int | None = None
    per_worker: int | None = 4
    starts: int | None = None
    period: float = 1.0


class BodyRow(Struct, frozen=True, kw_only=True):
    """A body as the engine has it. `deaths` counts the workers that began it."""

    id: str
    status: str
    end: End | None = None
    error: str = ""
    worker: str = ""
    queue: str = ""
    deaths: int = 0
    created: float = 0.0
    updated: float = 0.0


class Engine:
    """The view from outside: start, look, wake, cancel. Any thread may use it."""

    def __init__(self, url: str) -> None:
        _silence()
        self._url = make_url(url).render_as_string(hide_password=False)
        self.client: DBOSClient | None = None

    def prepare(self) -> None:
        """Make the engine's tables, if they are not there."""
        DBOS.migrate(self._url)

    @property
    def _client(self) -> DBOSClient:
        if self.client is None:
            self.client = DBOSClient(
                system_database_url=self._url, serializer=PlainJson(), application_name=APPLICATION
            )
        return self.client

    def close(self) -> None:
        if self.client is not None:
            self.client.destroy()
            self.client = None

    def queue(self, name: str, terms: QueueTerms, polling: float) -> None:
        limiter: Any = None if terms.starts is None else {"limit": terms.starts, "period": terms.period}
        self._client.register_queue(
            name,
            global_concurrency=terms.concurrency,
            worker_concurrency=terms.per_worker,
            limiter=limiter,
            polling_interval_sec=polling,
        )

    def drop_queue(self, name: str) -> None:
        self._client.delete_queue(name)

    def start(self, run: str, queue: str, priority: int) -> None:
        self._client.enqueue(
            {
                "workflow_name": BODY,
                "queue_name": queue,
                "workflow_id": run,
                "priority": priority,
                "app_version": FORMAT,
            },
            msgspec.to_builtins(Order(run_id=run, branch=Branch(path="", place=(), context={}))),
        )

    def body(self, id: str) -> BodyRow | None:
        found = self.bodies([id])
        return found[0] if found else None

    def bodies(self, ids: Sequence[str]) -> list[BodyRow]:
        return _rows(self._client.list_workflows(workflow_ids=list(ids), load_input=False))

    def family(self, run: str) -> list[BodyRow]:
        """The bodies of a run, the top first."""
        below = self._client.list_workflows(workflow_id_prefix=f"{run}:", load_input=False)
        return [*self.bodies([run]), *_rows(below)]

    def held(self, worker: str, queue: str) -> list[BodyRow]:
        """What a worker began or was about to."""
        begun = self._client.list_workflows(
            executor_id=worker, status=list(_OPEN), load_input=False, load_output=False
        )
        lined = self._client.list_workflows(
            queue_name=queue, status="ENQUEUED", load_input=False, load_output=False
        )
        return list({one.id: one for one in (*_rows(begun), *_rows(lined))}.values())

    def pending(self) -> list[BodyRow]:
        """What some worker has begun."""
        return _rows(self._client.list_workflows(status="PENDING", load_input=False, load_output=False))

    def entries(self, body: str) -> list[tuple[str, Entry, float, float]]:
        """The journal of a body: name, entry, begin, end."""
        return [
            (
                one["function_name"],
                msgspec.convert(one["output"], Entry),
                (one["started_at_epoch_ms"] or 0) / 1000,
                (one["completed_at_epoch_ms"] or 0) / 1000,
            )
            for one in self._client.list_workflow_steps(body)
            if isinstance(one["output"], dict)
        ]

    def wake(self, body: str, queue: str) -> bool | None:
        """Let a body that ended in a wait go on from its journal. False when it does not wait any more, None
        when it is on its way to an end that nobody knows yet."""
        row = self.body(body)
        if row is None or row.status in _OPEN:
            return None
        if row.end is None or row.end.state != "waiting":
            return False
        try:
            self._client.rewind_workflow(body, start_step=_LAST, queue_name=queue)
        except error.DBOSException:
            return None
        return True

    def take(self, body: BodyRow, worker: str, queue: str) -> None:
        """Take a body from a dead worker and put it into a queue. Its records are refused from now on."""
        system = self._client._sys_db
        system.reenqueue_for_recovery(body.id, [worker], queue)
        if body.queue not in ("", queue):
            self.move([body.id], queue)

    def move(self, bodies: Sequence[str], queue: str) -> None:
        self._client.resume_workflows(list(bodies), queue_name=queue)

    def cancel(self, run: str) -> None:
        self._client.cancel_workflow(run, cancel_children=True)


class Executor:
    """The view of a worker process: claims bodies from queues and executes them. One in a process."""

    def __init__(self, url: str, worker: str, queues: Sequence[str], execute: Execute) -> None:
        _Current.execute = execute
        rendered = make_url(url).render_as_string(hide_password=False)
        config: DBOSConfig = {
            "name": APPLICATION,
            "system_database_url": rendered,
            "serializer": PlainJson(),
            "application_version": FORMAT,
            "executor_id": worker,
            "log_level": "CRITICAL",
            "run_migrations": False,
            "sys_db_pool_size": 16,
        }
        DBOS(config=config)
        DBOS.listen_queues(list(queues))

    def launch(self) -> None:
        DBOS.launch()

    def close(self) -> None:
        DBOS.destroy()
        _Current.execute = None


class _Current:
    execute: Execute | None = None


@DBOS.workflow(name=BODY, max_recovery_attempts=_DEATHS)
def _body(order: dict[str, Any]) -> dict[str, Any]:
    assert _Current.execute is not None
    found: dict[str, Any] = msgspec.to_builtins(_Current.execute(msgspec.convert(order, Order)))
    return found


class EngineBody:
    """The port of the interpreter, inside of a body."""

    def __init__(
        self,
        run: str,
        engine: Engine,
        answer: Callable[[Wait], Answer | None],
        interruption: Callable[[], Literal["pause", "handover"] | None],
        assure: Callable[[], None],
    ) -> None:
        self._run = run
        self._engine = engine
        self.answer = answer
        self.interruption = interruption
        self._assure = assure

    def step(self, name: str, work: Callable[[], Entry]) -> Entry:
        def worked() -> Any:
            self._assure()
            return msgspec.to_builtins(work())

        return msgspec.convert(DBOS.run_step({"name": name}, worked), Entry)

    def fork(self, branch: Branch) -> None:
        with SetWorkflowID(body_id(self._run, branch.path)):
            DBOS.start_workflow(_body, msgspec.to_builtins(Order(run_id=self._run, branch=branch)))

    def join(self, paths: Sequence[str]) -> list[End]:
        """Reads without a record: the end of a branch stays what it is."""
        ids = [body_id(self._run, path) for path in paths]
        pause = _FIRST_LOOK
        while ids:
            found = {one.id: one for one in self._engine.bodies(ids)}
            if all(id in found and found[id].status not in _OPEN for id in ids):
                return [end_of(found[id]) for id in ids]
            time.sleep(pause)
            pause = min(_LONGEST_LOOK, pause * 1.5)
        return []


def body_id(run: str, path: str) -> str:
    return f"{run}:{path}" if path else run


def end_of(row: BodyRow) -> End:
    """How a body that is over ended; one without an end of its own failed."""
    if row.end is not None:
        return row.end
    why = {"CANCELLED": "it was cancelled", "MAX_RECOVERY_ATTEMPTS_EXCEEDED": "its workers died too often"}
    return End(state="failed", is_failure=True, message=why.get(row.status, row.error))


def _rows(found: Iterable[Any]) -> list[BodyRow]:
    return [
        BodyRow(
            id=one.workflow_id,
            status=one.status,
            end=msgspec.convert(one.output, End) if isinstance(one.output, dict) else None,
            error=str(one.error) if one.error else "",
            worker=one.executor_id or "",
            queue=one.queue_name or "",
            deaths=one.recovery_attempts or 0,
            created=(one.created_at or 0) / 1000,
            updated=(one.updated_at or 0) / 1000,
        )
        for one in found
    ]
