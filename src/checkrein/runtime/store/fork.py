"""A fork: the conversation so far under a new id. The source does not change."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import checkrein
from checkrein.base.clock import timestamp_ms
from checkrein.base.errors import SessionError
from checkrein.base.ids import new_uuid
from checkrein.runtime.store import fold, marks, tree
from checkrein.runtime.store.layout import exists, open_for_reading
from checkrein.runtime.store.lines import encode
from checkrein.runtime.store.load import body
from checkrein.runtime.store.scan import Scan
from checkrein.runtime.store.transcript_files import directory_for
from checkrein.runtime.store.values import Entry, SessionKind


def fork(
    source: Path,
    target: Path,
    *,
    cwd: str,
    at: str | None = None,
    title: str | None = None,
    kind: SessionKind,
) -> None:
    """Copy the conversation that ends in `at` (default: the latest) to `target`, completely or not at all.

    Entries get new uuids and `forkedFrom`; calls that were cut off get their results; copied usage does not
    count again.
    """
    directory_for(target)
    temporary = target.with_name(f".{target.stem}.{os.getpid()}.fork")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as out, open_for_reading(source) as file:
            for entry in _entries(file, source, target.stem, at, title, kind, cwd):
                out.write(encode(entry))
            out.flush()
            os.fsync(out.fileno())
        os.link(temporary, target)
    except FileExistsError as error:
        raise exists(target) from error
    finally:
        temporary.unlink(missing_ok=True)


def _entries(
    file: BinaryIO,
    source: Path,
    session_id: str,
    at: str | None,
    title: str | None,
    kind: SessionKind,
    cwd: str,
) -> Iterator[Entry]:
    scan = Scan(source).read(file)
    line = tree.chain(scan, at)
    if not line:
        raise SessionError(
            f"Session {source.stem} has no messages to fork.",
            kind="session_empty",
            hint="Start a new session.",
        )
    plan = fold.plan(scan, line)
    stamp = {
        "sessionId": session_id,
        "timestamp": timestamp_ms(),
        "cwd": cwd,
        "version": checkrein.__version__,
    }
    yield marks.mark("opened", {"format": marks.FORMAT, "kind": kind}) | stamp
    if scan.facts.values["state"]:
        yield marks.mark("state", {"state": scan.facts.values["state"]}) | stamp
    known = {node.uuid for node in line}
    recovered = {node.uuid: node for node in plan.answers.values() if node.uuid not in known}
    leaf: str | None = None
    for node in (*line, *recovered.values()):
        entry, uuid = body(file, node), new_uuid(f"{session_id}/")
        origin = {"sessionId": source.stem, "messageUuid": node.uuid}
        links = {"uuid": uuid, "parentUuid": leaf, "sessionId": session_id, "forkedFrom": origin}
        yield {"type": entry.get("type"), **entry, **links}
        leaf = uuid
    if plan.open:
        message = {
            "role": "user",
            "content": [fold.repair(scan, plan.owners[call], call) for call in plan.open],
        }
        answer = {
            "type": "user",
            "uuid": new_uuid(f"{session_id}/"),
            "parentUuid": leaf,
            "isSidechain": False,
        }
        yield (
            answer
            | stamp
            | {"message": message, "checkrein": {"format": marks.FORMAT, "repair": "interrupted"}}
        )
    facts = scan.facts.values
    name = title or next(
        (facts[key] for key in ("title", "generated_title", "first_prompt") if facts.get(key)), ""
    )
    if name:
        yield marks.title_line(name if title else f"{name} (fork)") | {"sessionId": session_id}
