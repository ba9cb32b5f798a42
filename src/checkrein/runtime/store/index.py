"""Lists and searches: an SQLite cache of every transcript's outline, in the Checkrein home.

The transcripts are the truth. A row is valid while its file's time and size stay the same; when they change,
the index reads the file again. It rebuilds an index that is missing, old or broken. When it can't use one
(the home is read-only, another process holds it too long), it makes one in memory. Several processes may use
it at once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from checkrein.base.errors import CheckreinError
from checkrein.base.home import checkrein_home, private_dir
from checkrein.runtime.store.layout import is_session_id, open_for_reading, project_dirs
from checkrein.runtime.store.load import outline_of
from checkrein.runtime.store.scan import Listener, Node
from checkrein.runtime.store.values import Match, Outline, SessionInfo

if TYPE_CHECKING:
    from sqlite3 import Connection

_SCHEMA_VERSION = 3
_SEARCHED_LENGTH = 4096
_BATCH = 64
_CHUNK = 1 << 20
_SCHEMA = f"""
BEGIN IMMEDIATE;
DROP TABLE IF EXISTS session;
DROP TABLE IF EXISTS said;
CREATE TABLE session (
  path TEXT PRIMARY KEY, project TEXT, time INTEGER, size INTEGER, updated TEXT, info BLOB
);
CREATE INDEX by_project ON session (project);
CREATE TABLE said (path TEXT, uuid TEXT, role TEXT, line INTEGER, text TEXT, PRIMARY KEY (path, uuid));
PRAGMA user_version = {_SCHEMA_VERSION};
COMMIT;
"""
_LIST = """
SELECT info FROM session WHERE ?1 IS NULL OR project = ?1 ORDER BY updated DESC, time DESC, path
"""
_SEARCH = """
SELECT info, uuid, role, line, text FROM said JOIN session USING (path)
WHERE (?1 IS NULL OR project = ?1) AND place(text) > 0 ORDER BY updated DESC, time DESC, path, line
"""

Stamp = tuple[int, int]
Said = tuple[str, str, str, int, str]
T = TypeVar("T")


def ask(root: Path, project: Path | None, question: Callable[[SessionIndex], T]) -> T:
    """Bring the index of `root` up to date (for one project, or all) and query it."""
    import sqlite3

    path = index_path(root)
    for _ in range(2):
        try:
            private_dir(path.parent)
            return _asked(path, root, project, question)
        except sqlite3.OperationalError as error:
            if any(word in str(error) for word in ("locked", "readonly", "unable to open")):
                break
            path.unlink(missing_ok=True)
        except (sqlite3.DatabaseError, msgspec.DecodeError):
            path.unlink(missing_ok=True)
        except OSError:
            break
    return _asked(None, root, project, question)


def _asked(path: Path | None, root: Path, project: Path | None, question: Callable[[SessionIndex], T]) -> T:
    index = SessionIndex(connect(path))
    try:
        index.refresh(root, project)
        return question(index)
    finally:
        index.close()


class SessionIndex:
    """One connection for one query: open, refresh, ask, close."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    def refresh(self, root: Path, project: Path | None) -> None:
        """Read again what changed in one project directory, or in all."""
        projects = [project] if project is not None else project_dirs(root)
        if project is None:
            gone = {name for (name,) in self._db.execute("SELECT DISTINCT project FROM session")}
            for name in gone.difference(map(str, projects)):
                self._forget(list(self._known(name)))
        for directory in projects:
            known = self._known(str(directory))
            present = dict(_transcripts(directory))
            self._forget([path for path in known if present.get(path, (0, 0))[1] < known[path][1]])
            changed = [path for path, stamp in present.items() if known.get(path) != stamp]
            for start in range(0, len(changed), _BATCH):
                self._learn(directory, changed[start : start + _BATCH])

    def sessions(self, project: Path | None) -> Iterator[SessionInfo]:
        """Newest first, by recorded time."""
        for (blob,) in self._db.execute(_LIST, (project and str(project),)):
            yield _info(blob)

    def search(self, text: str, project: Path | None) -> Iterator[Match]:
        needle = text.casefold()
        self._db.create_function("place", 1, lambda said: said.casefold().find(needle) + 1)
        for blob, uuid, role, line, said in self._db.execute(_SEARCH, (project and str(project),)):
            yield Match(_info(blob), uuid, role, line, _excerpt(said, needle))

    def forget(self, path: Path) -> None:
        """Drop the rows of one transcript."""
        self._forget([str(path)])

    def close(self) -> None:
        self._db.close()

    def _known(self, project: str) -> dict[str, Stamp]:
        rows = self._db.execute("SELECT path, time, size FROM session WHERE project = ?", (project,))
        return {path: (time, size) for path, time, size in rows}

    def _forget(self, paths: list[str]) -> None:
        if paths:
            which = [(path,) for path in paths]
            self._write(
                ("DELETE FROM said WHERE path = ?", which), ("DELETE FROM session WHERE path = ?", which)
            )

    def _learn(self, project: Path, batch: list[str]) -> None:
        """Read, then write: reading a transcript never locks the database.

        The stamp belongs to the file that was read: its name may mean another file by now.
        """
        rows: list[tuple[object, ...]] = []
        said: list[Said] = []
        for path in batch:
            try:
                with open_for_reading(Path(path)) as file:
                    status = os.fstat(file.fileno())
                    if not status.st_size:
                        continue  # a new file without messages
                    found = outline_of(file, Path(path), listener=self._listener(path, said))
            except CheckreinError:
                continue  # gone, or not readable: a list shows only what can be loaded
            info = msgspec.json.encode(_info_of(found, status.st_size), enc_hook=str)
            stamp = status.st_mtime_ns, status.st_size
            rows.append((path, str(project), *stamp, found.updated_at or "", info))
        self._keep(said)
        self._write(("INSERT OR REPLACE INTO session VALUES (?, ?, ?, ?, ?, ?)", rows))

    def _listener(self, path: str, said: list[Said]) -> Listener:
        waiting = 0

        def listen(node: Node, text: str) -> None:
            nonlocal waiting
            said.append((path, node.uuid, node.role, node.line, text[:_SEARCHED_LENGTH]))
            waiting += min(len(text), _SEARCHED_LENGTH)
            if waiting > _CHUNK:
                self._keep(said)
                waiting = 0

        return listen

    def _keep(self, said: list[Said]) -> None:
        self._write(("INSERT OR REPLACE INTO said VALUES (?, ?, ?, ?, ?)", said))
        said.clear()

    def _write(
        self, *statements: tuple[str, list[tuple[str]] | list[Said] | list[tuple[object, ...]]]
    ) -> None:
        with self._db:
            self._db.execute("BEGIN IMMEDIATE")
            for statement, rows in statements:
                self._db.executemany(statement, rows)


def forget(root: Path, transcript: Path) -> None:
    """Drop everything that the index holds of a deleted session, including its text."""
    import sqlite3

    path = index_path(root)
    if not path.exists():
        return
    try:
        index = SessionIndex(connect(path))
    except (sqlite3.Error, OSError):
        path.unlink(missing_ok=True)
        return
    try:
        index.forget(transcript)
    except sqlite3.Error:
        pass  # another process is busy with it; the next refresh drops the rows
    finally:
        index.close()


def _info_of(found: Outline, size: int) -> SessionInfo:
    fields = [name for name in SessionInfo.__struct_fields__ if name in Outline.__struct_fields__]
    shared = {name: getattr(found, name) for name in fields}
    shared["title"] = found.title or found.generated_title
    suspect = found.state.get("suspect")
    return SessionInfo(
        **shared,
        size=size,
        stopped=found.result is not None,
        suspect=suspect if isinstance(suspect, dict) else None,
    )


def index_path(root: Path) -> Path:
    from hashlib import sha256

    return checkrein_home() / "cache" / f"sessions-{sha256(os.fsencode(root)).hexdigest()[:16]}.sqlite"


def connect(path: Path | None) -> Connection:
    """Open the index at `path`, or one in memory."""
    import sqlite3

    connection = sqlite3.connect(path or ":memory:", timeout=5, isolation_level=None)
    try:
        if path:
            os.chmod(path, 0o600)
        connection.execute("PRAGMA secure_delete = ON")
        if connection.execute("PRAGMA user_version").fetchone() != (_SCHEMA_VERSION,):
            connection.executescript(_SCHEMA)
    except BaseException:
        connection.close()
        raise
    return connection


def _transcripts(project: Path) -> Iterator[tuple[str, Stamp]]:
    try:
        with os.scandir(project) as found:
            for item in found:
                if not item.name.endswith(".jsonl") or not is_session_id(item.name.removesuffix(".jsonl")):
                    continue
                if item.is_file(follow_symlinks=False):
                    status = item.stat(follow_symlinks=False)
                    if status.st_size:
                        yield item.path, (status.st_mtime_ns, status.st_size)
    except OSError:
        return


def _info(blob: bytes) -> SessionInfo:
    return msgspec.json.decode(blob, type=SessionInfo, dec_hook=lambda kind, value: kind(value))


def _excerpt(text: str, needle: str, around: int = 80) -> str:
    place = max(0, text.casefold().find(needle))
    start, end = max(0, place - around), place + len(needle) + around
    middle = " ".join(text[start:end].split())
    return ("…" if start else "") + middle + ("…" if end < len(text) else "")
