"""This machine and its processes: who a worker is, and the end of one that was declared dead."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from checkrein.base.errors import FileError
from checkrein.base.home import private_dir
from checkrein.base.ids import new_uuid
from checkrein.recipes.database import WorkerRow
from checkrein.runtime.process.child import MARK
from checkrein.runtime.process.guard.descent import below, marked, send

_PATIENCE = 3.0
_MARK = re.compile(r"recipe-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def machine_id(home: Path) -> str:
    """The name of the machine: made once, kept in the Checkrein home."""
    file = private_dir(home / "recipes") / "machine"
    with contextlib.suppress(FileExistsError):
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as out:
            out.write(os.urandom(6).hex())
    for _ in range(50):
        if found := file.read_text().strip():
            return found
        time.sleep(0.01)
    raise FileError(f"{file} is empty.", hint="Remove it; a new one is made.")


def new_worker(home: Path, kind: str) -> WorkerRow:
    """A row for this process."""
    return WorkerRow(
        id=f"w-{new_uuid()[:13]}",
        machine=machine_id(home),
        kind=kind,
        pid=os.getpid(),
        birth=birth(os.getpid()) or "",
        mark=f"recipe-{new_uuid()}",
    )


@contextlib.contextmanager
def marking(mark: str) -> Iterator[None]:
    """Everything that this process starts meanwhile carries the mark in its environment."""
    above = os.environ.get(MARK)
    os.environ[MARK] = f"{above}:{mark}" if above else mark
    try:
        yield
    finally:
        if above is None:
            del os.environ[MARK]
        else:
            os.environ[MARK] = above


def birth(pid: int) -> str | None:
    """What no other process of this number has: the namespace, the boot, and the tick of its start."""
    try:
        space = os.readlink("/proc/self/ns/pid")
        with open("/proc/sys/kernel/random/boot_id") as boot, open(f"/proc/{pid}/stat", "rb") as stat:
            return f"{space} {boot.read().strip()} {stat.read().rpartition(b')')[2].split()[19].decode()}"
    except OSError:
        return None


def is_gone(row: WorkerRow) -> bool:
    """Whether the process of a worker is over, as far as this process can see it."""
    own = birth(os.getpid())
    if own is None or own.rpartition(" ")[0] != row.birth.rpartition(" ")[0]:
        return False
    return birth(row.pid) != row.birth or _is_dead(row.pid)


def end_worker(row: WorkerRow) -> None:
    """Kill a worker of this machine, if it still exists, and everything below it. Returns when it is gone.
    Only a mark as we make them is looked for: every environment holds the empty one, and whoever writes the
    database writes the row."""
    roots = [row.pid] if birth(row.pid) == row.birth else []
    is_mark = _MARK.fullmatch(row.mark) is not None
    limit = time.monotonic() + _PATIENCE
    while time.monotonic() < limit:
        left = (below(roots) if roots else set()) | (marked(row.mark) if is_mark else set()) | set(roots)
        left = {pid for pid in left if pid != os.getpid() and not _is_dead(pid)}
        if not left:
            return
        send(left, signal.SIGKILL)
        time.sleep(0.01)


def _is_dead(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            return stat.read().rpartition(b")")[2].split()[0] in (b"Z", b"X")
    except OSError:
        return True
