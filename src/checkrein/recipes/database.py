"""The tables of Checkrein beside those of the engine, in the same database: runs, workers, waits, answers.

SQLite in the Checkrein home, or PostgreSQL for many machines. Moments of workers are the database's clock.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import sqlalchemy as sa
from msgspec import Struct

from checkrein.base.errors import CheckreinError, ConfigError
from checkrein.base.files import locked
from checkrein.base.home import private_dir
from checkrein.base.secrets import redact_url
from checkrein.recipes.journal import Answer, Wait

LEASE = 6.5
"""Seconds without a beat after which a worker counts as dead."""
BEATS = 6.5
"""Beats within a lease."""

_LOCK = 726365706573
_POSTGRES = ("postgresql://", "postgres://")
_META = sa.MetaData()
RUNS = sa.Table(
    "checkrein_runs",
    _META,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("recipe", sa.Text, nullable=False),
    sa.Column("plan", sa.Text, nullable=False),
    sa.Column("cwd", sa.Text, nullable=False),
    sa.Column("queue", sa.Text, nullable=False),
    sa.Column("machine", sa.Text, nullable=False),
    sa.Column("want", sa.String(16), nullable=False),
    sa.Column("by", sa.Text, nullable=False),
    sa.Column("created", sa.Double, nullable=False),
)
WORKERS = sa.Table(
    "checkrein_workers",
    _META,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("machine", sa.Text, nullable=False),
    sa.Column("kind", sa.String(8), nullable=False),
    sa.Column("pid", sa.Integer, nullable=False),
    sa.Column("birth", sa.Text, nullable=False),
    sa.Column("mark", sa.Text, nullable=False),
    sa.Column("state", sa.String(8), nullable=False),
    sa.Column("began", sa.Double, nullable=False),
    sa.Column("beat", sa.Double, nullable=False),
    sa.Column("doing", sa.Text, nullable=False),
)
WAITS = sa.Table(
    "checkrein_waits",
    _META,
    sa.Column("body", sa.Text, primary_key=True),
    sa.Column("run_id", sa.String(64), nullable=False, index=True),
    sa.Column("worker", sa.String(64), nullable=False),
    sa.Column("since", sa.Double, nullable=False),
    sa.Column("wait", sa.Text, nullable=False),
)
ANSWERS = sa.Table(
    "checkrein_answers",
    _META,
    sa.Column("run_id", sa.String(64), primary_key=True),
    sa.Column("path", sa.Text, primary_key=True),
    sa.Column("round", sa.Integer, primary_key=True),
    sa.Column("answer", sa.Text, nullable=False),
)


class RunRow(Struct, frozen=True, kw_only=True):
    """A run as it was asked for. `want` is what people want of it: run, pause or cancel. `machine` is where
    its directory is. A run brings no rights: those of its worker count."""

    id: str
    recipe: str
    plan: str
    cwd: str
    queue: str
    machine: str
    want: str
    by: str
    created: float


class WorkerRow(Struct, frozen=True, kw_only=True):
    """A worker process. `kind` is pool, or own for one that serves a single command. `birth` tells the
    process from a later one of the same number; `mark` is in the environment of all its children. `doing`
    says which steps it runs."""

    id: str
    machine: str
    kind: str
    pid: int
    birth: str
    mark: str
    state: str = "live"
    began: float = 0.0
    beat: float = 0.0
    doing: str = "[]"


class Doing(Struct, frozen=True):
    """A step that runs now."""

    run_id: str
    path: str
    since: float


class WaitRow(Struct, frozen=True, kw_only=True):
    body: str
    run_id: str
    worker: str
    since: float
    wait: Wait


class Database:
    """Any thread may use it. `url` may hold a password: never show it. All workers of a database have the
    same `lease`."""

    def __init__(self, url: str, lease: float = LEASE) -> None:
        self.url = url
        self.lease = lease
        self.is_sqlite = url.startswith("sqlite")
        try:
            self.engine = sa.create_engine(url, pool_pre_ping=not self.is_sqlite, pool_size=4)
        except (sa.exc.ArgumentError, ValueError):
            raise ConfigError(
                "recipes.database is not an address.", hint="Write it as postgresql://user@host/name."
            ) from None
        if self.is_sqlite:
            sa.event.listen(self.engine, "connect", _prepared)
        self._now: sa.ColumnClause[float] = sa.literal_column(
            "(julianday('now') - 2440587.5) * 86400.0"
            if self.is_sqlite
            else "CAST(EXTRACT(EPOCH FROM clock_timestamp()) AS DOUBLE PRECISION)"
        )

    def create(self) -> None:
        if self.is_sqlite:
            with self.engine.connect() as connection:
                connection.exec_driver_sql("PRAGMA journal_mode=WAL")
        _META.create_all(self.engine)

    def reach(self) -> None:
        """Raises what a user can do something about when there is no database."""
        try:
            self.engine.connect().close()
        except sa.exc.OperationalError as error:
            said = redact_url(str(error.orig).strip().splitlines()[0]) if error.orig else "no answer"
            raise CheckreinError(
                f"The database of recipe runs can't be reached: {said}",
                kind="database_unreachable",
                hint="recipes.database names it.",
                retryable=True,
            ) from None

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """One process at a time: two that make the tables would collide."""
        file = self.engine.url.database
        if self.is_sqlite and file is not None:
            with locked(Path(f"{file}.lock")):
                yield
            return
        with self.engine.connect() as connection:
            connection.execute(sa.text(f"SELECT pg_advisory_lock({_LOCK})"))
            try:
                yield
            finally:
                connection.execute(sa.text(f"SELECT pg_advisory_unlock({_LOCK})"))

    def close(self) -> None:
        self.engine.dispose()

    def add_run(self, row: RunRow) -> None:
        self._write(sa.insert(RUNS).values(msgspec.to_builtins(row)))

    def run(self, id: str) -> RunRow | None:
        found = self._read(sa.select(RUNS).where(RUNS.c.id == id))
        return msgspec.convert(found[0], RunRow) if found else None

    def runs(self, limit: int) -> list[RunRow]:
        found = self._read(sa.select(RUNS).order_by(RUNS.c.created.desc()).limit(limit))
        return [msgspec.convert(one, RunRow) for one in found]

    def want(self, run: str, want: str) -> None:
        self._write(sa.update(RUNS).where(RUNS.c.id == run).values(want=want))

    def wanted(self, runs: Iterable[str]) -> dict[str, str]:
        query = sa.select(RUNS.c.id, RUNS.c.want).where(RUNS.c.id.in_(list(runs)))
        return {one["id"]: one["want"] for one in self._read(query)}

    def add_worker(self, row: WorkerRow) -> None:
        values = msgspec.to_builtins(row) | {"began": self._now, "beat": self._now}
        self._write(sa.insert(WORKERS).values(values))

    def beat(self, worker: str, doing: str) -> bool:
        """False when somebody has declared the worker dead: it must end now."""
        mine = sa.update(WORKERS).where(WORKERS.c.id == worker, WORKERS.c.state == "live")
        return self._write(mine.values(beat=self._now, doing=doing)) == 1

    def workers(self, *states: str) -> list[WorkerRow]:
        query = sa.select(WORKERS).where(WORKERS.c.state.in_(states or ("live", "dead")))
        return [msgspec.convert(one, WorkerRow) for one in self._read(query)]

    def silent(self) -> list[WorkerRow]:
        """Workers without a beat for the time of a lease, and those that nobody has buried yet."""
        late = sa.and_(WORKERS.c.state == "live", WORKERS.c.beat < self._now - self.lease)
        query = sa.select(WORKERS).where(sa.or_(late, WORKERS.c.state == "dead"))
        return [msgspec.convert(one, WorkerRow) for one in self._read(query)]

    def fence(self, worker: str, *, at_once: bool = False) -> bool:
        """Declare it dead, if its lease is over."""
        gone = sa.update(WORKERS).where(WORKERS.c.id == worker, WORKERS.c.state == "live")
        if not at_once:
            gone = gone.where(WORKERS.c.beat < self._now - self.lease)
        return self._write(gone.values(state="dead")) == 1

    def bury(self, worker: str) -> None:
        self._write(sa.update(WORKERS).where(WORKERS.c.id == worker).values(state="gone"))

    def add_wait(self, row: WaitRow) -> None:
        values = msgspec.to_builtins(row) | {"wait": msgspec.json.encode(row.wait).decode()}
        with self.engine.begin() as connection:
            connection.execute(sa.delete(WAITS).where(WAITS.c.body == row.body))
            connection.execute(sa.insert(WAITS).values(values))

    def waits(self, run: str | None = None) -> list[WaitRow]:
        query = sa.select(WAITS).order_by(WAITS.c.since)
        if run is not None:
            query = query.where(WAITS.c.run_id == run)
        return [
            msgspec.convert(one | {"wait": msgspec.json.decode(one["wait"])}, WaitRow)
            for one in self._read(query)
        ]

    def end_wait(self, body: str, since: float | None = None) -> None:
        ended = sa.delete(WAITS).where(WAITS.c.body == body)
        self._write(ended if since is None else ended.where(WAITS.c.since <= since))

    def add_answer(self, run: str, wait: Wait, answer: Answer) -> bool:
        """False when somebody else was first."""
        values = {
            "run_id": run,
            "path": wait.path,
            "round": wait.round,
            "answer": msgspec.json.encode(answer).decode(),
        }
        try:
            self._write(sa.insert(ANSWERS).values(values))
        except sa.exc.IntegrityError:
            return False
        return True

    def answer(self, run: str, wait: Wait) -> Answer | None:
        query = sa.select(ANSWERS.c.answer).where(
            ANSWERS.c.run_id == run, ANSWERS.c.path == wait.path, ANSWERS.c.round == wait.round
        )
        found = self._read(query)
        return msgspec.json.decode(found[0]["answer"], type=Answer) if found else None

    def answered(self) -> set[tuple[str, str, int]]:
        """Run, path and round of all answers to runs that wait."""
        waiting = sa.select(WAITS.c.run_id)
        query = sa.select(ANSWERS.c.run_id, ANSWERS.c.path, ANSWERS.c.round)
        found = self._read(query.where(ANSWERS.c.run_id.in_(waiting)))
        return {(one["run_id"], one["path"], one["round"]) for one in found}

    def _read(self, query: sa.Executable) -> list[dict[str, Any]]:
        with self.engine.connect() as connection:
            return [
                {str(name): value for name, value in one.items()}
                for one in connection.execute(query).mappings()
            ]

    def _write(self, statement: sa.Executable) -> int:
        with self.engine.begin() as connection:
            return int(connection.execute(statement).rowcount)


def database_at(home: Path, setting: str | None, lease: float = LEASE) -> Database:
    """The configured database, or the file in the Checkrein home."""
    if setting:
        if not setting.startswith(_POSTGRES):
            raise ConfigError(
                f"recipes.database is not the address of a PostgreSQL database: {redact_url(setting)}",
                hint="Write it as postgresql://user@host/name.",
            )
        return Database(driven(setting), lease)
    file = private_dir(home / "recipes") / "runs.sqlite"
    with contextlib.suppress(FileExistsError):
        os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    os.chmod(file, 0o600)
    return Database(f"sqlite:///{file}", lease)


def driven(url: str) -> str:
    """A PostgreSQL address for the driver that is installed."""
    for plain in _POSTGRES:
        if url.startswith(plain):
            return "postgresql+psycopg://" + url.removeprefix(plain)
    return url


def user_name(env: Mapping[str, str] | None = None) -> str:
    """Who sits here, for the journal."""
    import getpass

    env = os.environ if env is None else env
    try:
        return env.get("CHECKREIN_USER") or getpass.getuser()
    except (OSError, KeyError):
        return f"uid {os.getuid()}"


def _prepared(connection: Any, _: Any) -> None:
    connection.isolation_level = "IMMEDIATE"
    connection.execute("PRAGMA busy_timeout=30000")
