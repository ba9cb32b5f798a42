"""The verbs for sessions: list, load, delete, and make a transcript durable.

Sessions come from the runtime's store. `directory` is the root of a store, None the user's own. An id is the
exact id of one session: in the project first, else in the one project that has it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.errors import CheckreinError, FileError, SessionError, UsageError
from checkrein.protocol.machine.project import place_of

if TYPE_CHECKING:
    from pathlib import Path

    from checkrein.runtime.store import Outline, SessionInfo, SessionStore, SessionWriter


class SessionRow(Struct, frozen=True, kw_only=True):
    """`stopped` says that the session has its terminal result; `prompt_count` counts what the user typed.

    `suspect` says why the session may be in a state that nobody acknowledged, null when it is not.
    """

    session_id: str
    created_at: str | None
    last_modified: str | None
    prompt_count: int
    stopped: bool
    path: str
    directory: str | None
    title: str | None
    model: str | None
    origin: str
    """What made it: interactive, print, sdk, background or recipe."""
    suspect: dict[str, Any] | None


class Listed(Struct, frozen=True, kw_only=True):
    directory: str
    sessions_count: int
    sessions: tuple[SessionRow, ...]


class Deleted(Struct, frozen=True, kw_only=True):
    """`deleted` false with status `not_found` is a success: there is nothing to delete."""

    session_id: str
    deleted: bool
    status: str
    directory: str


class Interrupted(Struct, frozen=True):
    """A call that was cut off; it never runs again. `effect` is "none" when it never started."""

    call_id: str
    tool_name: str
    effect: str


class Loaded(Struct, frozen=True, kw_only=True):
    """`suspect` says why the session may be in a state that nobody acknowledged, null when it is not."""

    session_id: str
    loaded: bool
    messages_count: int
    input_tokens: int
    output_tokens: int
    directory: str
    path: str
    prompt_count: int
    cache_creation_input_tokens: int
    cache_read_input_tokens: int
    cost_usd: float
    title: str | None
    model: str | None
    permission_mode: str | None
    workspace: str | None
    created_at: str | None
    last_modified: str | None
    stopped: bool
    final_stop_reason: str | None
    suspect: dict[str, Any] | None
    interrupted_calls: tuple[Interrupted, ...]


class Flushed(Struct, frozen=True, kw_only=True):
    """`flushed` is true when the file system has confirmed it. `created` and `changed` say what happened."""

    session_id: str
    path: str
    flushed: bool
    messages_count: int
    input_tokens: int
    output_tokens: int
    directory: str
    created: bool
    changed: bool


Warned = tuple[Diagnostic, ...]


def list_sessions(
    directory: str | None, project: str, *, every: bool = False, limit: int | None = None
) -> tuple[Listed, Warned]:
    """Newest first by recorded time. Each id can be loaded; the warnings name files that can't."""
    store = _open_store(directory)
    good, bad = _listed(store, project, every)
    rows = tuple(_row(info) for info in (good if limit is None else good[:limit]))
    return Listed(directory=str(store.root), sessions_count=len(rows), sessions=rows), bad


def count_sessions(directory: str | None, project: str) -> tuple[int, Warned]:
    """The number of sessions that `list_sessions` gives, without opening each."""
    good, bad = _listed(_open_store(directory), project, every=False)
    return len(good), bad


def _listed(store: SessionStore, project: str, every: bool) -> tuple[list[SessionInfo], Warned]:
    try:
        found = store.list(None if every else place_of(project))
    except CheckreinError as error:
        raise error.during("list_sessions", str(store.root), directory=str(store.root)) from error
    good = [info for info in found if not _is_damaged(info)]
    return good, tuple(_damaged(info.path) for info in found if _is_damaged(info))


def delete_session(session_id: str, directory: str | None, project: str) -> Deleted:
    store = _open_store(directory)
    known = {"session_id": session_id, "deleted": False, "directory": str(store.root)}
    try:
        gone = store.delete(session_id, place_of(project))
    except CheckreinError as error:
        raise error.during("delete_session", session_id, **known) from error
    status = "deleted" if gone else "not_found"
    return Deleted(session_id=session_id, deleted=gone, status=status, directory=str(store.root))


def load_session(session_id: str, directory: str | None, project: str) -> tuple[Loaded, Warned]:
    """Streams: a session of any size takes the same memory. The warnings name every repair."""
    from checkrein.runtime.store.load import outline

    store = _open_store(directory)
    known = {"session_id": session_id, "loaded": False, "directory": str(store.root)}
    try:
        found = outline(_find(store, session_id, project))
        if _says_nothing(found):
            raise SessionError(
                f"{found.path} holds no readable line.",
                hint="It is no longer a session. Delete it, or restore it from a copy.",
            )
    except CheckreinError as error:
        raise error.during("load_session", session_id, **known) from error
    return _loaded(found, store), found.diagnostics


def flush_transcript(
    prompt: str | None, session_id: str | None, directory: str | None, project: str
) -> tuple[Flushed, Warned]:
    """Add a prompt to a session (a new one, or the one with the id) and make all of it durable.

    Without a prompt the session must exist, and only becomes durable. No model gets a request.
    """
    from checkrein.runtime.store.load import outline
    from checkrein.runtime.store.marks import shortened

    if prompt is not None and not prompt.strip():
        raise empty_prompt()
    store = _open_store(directory)
    known = {"flushed": False, "directory": str(store.root)}
    if session_id is not None:
        known["session_id"] = session_id
    try:
        if prompt is None and session_id is None:
            raise UsageError("Give a prompt, a --session-id, or both.", kind="missing_argument")
        writer, created = _writer(store, session_id, project, create=prompt is not None)
        with writer:
            if prompt is not None:
                writer.user(prompt)
            writer.sync()
            found = outline(writer.path)
    except CheckreinError as error:
        target = session_id or shortened(prompt or "")
        raise error.during("flush_transcript", target, **known) from error
    flushed = Flushed(
        session_id=found.session_id,
        path=str(found.path),
        flushed=True,
        messages_count=found.message_count,
        input_tokens=found.usage.input_tokens,
        output_tokens=found.usage.output_tokens,
        directory=str(store.root),
        created=created,
        changed=prompt is not None,
    )
    return flushed, found.diagnostics


def empty_prompt() -> UsageError:
    return UsageError("The prompt is empty.", kind="prompt_empty").during("read_prompt", "prompt")


def _open_store(directory: str | None) -> SessionStore:
    """The store at `directory`. It may not exist yet; refuse anything that is not a directory."""
    from checkrein.runtime.store import SessionStore

    if (
        directory is not None
        and (not directory or os.path.exists(directory))
        and not os.path.isdir(directory)
    ):
        raise FileError(
            f"{directory!r} is not a directory.", kind="directory_invalid", hint="Name a directory."
        ).during("open_store", directory, directory=directory)
    return SessionStore(directory)


def _find(store: SessionStore, session_id: str, project: str) -> Path:
    from checkrein.runtime.store.find import find_id
    from checkrein.runtime.store.layout import checked_id, not_found

    path = find_id(store.root, checked_id(session_id), place_of(project))
    if path is None:
        raise not_found(session_id, store.root)
    return path


def _writer(
    store: SessionStore, session_id: str | None, project: str, *, create: bool
) -> tuple[SessionWriter, bool]:
    from checkrein.runtime.store.find import find_id
    from checkrein.runtime.store.layout import checked_id

    place = place_of(project)
    known = session_id and find_id(store.root, checked_id(session_id), place)
    if known or not create:
        return store.resume(str(_find(store, session_id or "", project).stem), place)[1], False
    return store.create(place, session_id=session_id, kind="print"), True


def _is_damaged(info: SessionInfo) -> bool:
    return info.created_at is None and not info.message_count and info.title is None


def _says_nothing(found: Outline) -> bool:
    return found.created_at is None and not found.message_count and found.title is None


def _damaged(path: Path) -> Diagnostic:
    from checkrein.base.origin import Origin

    message = "This session has no readable line, so the list leaves it out."
    hint = "Delete it, or restore it from a copy."
    return Diagnostic("PROTO002", "warning", message, Origin(str(path), "user"), hint=hint)


def _row(info: SessionInfo) -> SessionRow:
    return SessionRow(
        session_id=info.session_id,
        created_at=info.created_at,
        last_modified=info.updated_at,
        prompt_count=info.prompt_count,
        stopped=info.stopped,
        path=str(info.path),
        directory=info.cwd,
        title=info.title,
        model=info.model,
        origin=info.kind,
        suspect=info.suspect,
    )


def _loaded(found: Outline, store: SessionStore) -> Loaded:
    usage, result = found.usage, found.result or {}
    return Loaded(
        session_id=found.session_id,
        loaded=True,
        messages_count=found.message_count,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        directory=str(store.root),
        path=str(found.path),
        prompt_count=found.prompt_count,
        cache_creation_input_tokens=usage.cache_creation_input_tokens,
        cache_read_input_tokens=usage.cache_read_input_tokens,
        cost_usd=usage.cost_usd,
        title=found.title,
        model=found.model,
        permission_mode=found.mode,
        workspace=found.cwd,
        created_at=found.created_at,
        last_modified=found.updated_at,
        stopped=found.result is not None,
        final_stop_reason=str(result["terminal_reason"]) if "terminal_reason" in result else None,
        suspect=found.state.get("suspect"),
        interrupted_calls=tuple(Interrupted(call.id, call.name, call.effect) for call in found.interrupted),
    )
