"""Opens a session in the store: a new one, a continued one, or a fork."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec import Struct

from checkrein.base.errors import UsageError
from checkrein.facts.claude import SDK_CHECKPOINTS_ENV, SDK_ENV
from checkrein.llm.port import Message, ToolUse
from checkrein.model.project import Place, Project
from checkrein.runtime.context.compaction import estimate
from checkrein.runtime.context.reminders import git_branch
from checkrein.runtime.session.options import Options
from checkrein.runtime.session.state import State
from checkrein.runtime.store import SessionKind, SessionStore, SessionWriter
from checkrein.runtime.store.checkpoints import prompts_of
from checkrein.runtime.store.kept_task import STATE_KEY, KeptTask
from checkrein.runtime.store.values import Conversation

if TYPE_CHECKING:
    from checkrein.runtime.store.mirror import Mirror

Source = Literal["startup", "resume", "fork", "clear", "compact"]
_CONTINUABLE: dict[SessionKind, tuple[SessionKind, ...]] = {
    "interactive": ("interactive",),
    "print": ("interactive", "print", "sdk"),
    "sdk": ("interactive", "print", "sdk"),
    "background": ("background",),
    "recipe": ("recipe",),
}


_KEPT_MODES = frozenset({"default", "acceptEdits", "dontAsk", "auto"})
"""Modes that a continued session keeps. `plan` and `bypassPermissions` must be chosen each time."""


class Opened(Struct, frozen=True, kw_only=True):
    """A session's writer and how it starts. The rest comes from a continued session: its model, its
    mode, the names of skills whose hooks were active, `once` hooks that have run, the commands that still
    ran in the background, its subagents and its jobs. A fork has neither of these two: they would run and
    report twice. `worktree` is the one that it had entered, and whether it made that itself."""

    writer: SessionWriter
    source: Source = "startup"
    model: str | None = None
    mode: str | None = None
    title: str | None = None
    skill_hooks: tuple[str, ...] = ()
    spent_hooks: tuple[str, ...] = ()
    background: tuple[str, ...] = ()
    tasks: tuple[KeptTask, ...] = ()
    jobs: tuple[Any, ...] = ()
    worktree: tuple[str, bool] | None = None


def open_session(options: Options, place: Place, state: State) -> Opened:
    """Open the session. A continued one puts its messages into `state`."""
    store = SessionStore(options.sessions)
    branch = git_branch(place.repo_root)
    reference = options.resume
    if reference is None and options.continue_:
        newest = store.latest(place.cwd, kinds=_CONTINUABLE[options.kind])
        reference = newest.session_id if newest is not None else None
    mirror = store.mirror() if options.mirror and options.persist else None
    if reference is None and (options.resume_at or options.drops_turn):
        raise UsageError(
            "--resume-session-at and --resume-drops-turn need a session to resume.", kind="resume_missing"
        )
    if reference is None:
        return Opened(writer=_new(store, options, place.cwd, branch, mirror), title=options.title)
    if options.session_id is not None and not options.fork:
        raise UsageError(
            "--session-id needs --fork-session when you resume a session.", kind="session_id_taken"
        )
    source: Source = "resume"
    at = options.resume_at
    if options.drops_turn is not None:
        _require_only(store.find(reference, place.cwd), at, options.drops_turn)
    if options.fork:
        source = "fork"
        reference = store.fork(reference, place.cwd, at=at, session_id=options.session_id, kind=options.kind)
        at = None
        if mirror is not None:
            mirror.tell_all(store.find(reference, place.cwd))
    conversation, writer = store.resume(reference, place.cwd, git_branch=branch, leaf=at, mirror=mirror)
    try:
        return _resumed(conversation, writer, source, state)
    except BaseException:
        writer.close()
        raise


def _require_only(path: Path, at: str | None, turn: str) -> None:
    from checkrein.runtime.store.dropped_turn import require_only

    if at is None:
        raise UsageError("--resume-drops-turn needs --resume-session-at.", kind="resume_missing")
    require_only(path, at, turn)


def _resumed(conversation: Conversation, writer: SessionWriter, source: Source, state: State) -> Opened:
    state.messages = [msgspec.convert(message, Message) for message in conversation.messages]
    put_off = conversation.deferred
    if put_off is not None:
        state.messages.pop()  # the answer that a call gets which does not come up again
        state.deferred = ToolUse(put_off.id, put_off.name, put_off.input)
    state.tokens = estimate(state.messages)
    state.checkpoints = prompts_of(conversation.checkpoints)
    kept = conversation.state
    key = kept.get("prefix")
    state.resumed_key = key if isinstance(key, dict) else None
    return Opened(
        writer=writer,
        source=source,
        model=_text(kept.get("model")),
        mode=conversation.mode if conversation.mode in _KEPT_MODES else None,
        title=conversation.title,
        skill_hooks=_texts(kept.get("skill_hooks")),
        spent_hooks=_texts(kept.get("spent_hooks")),
        background=_commands(kept.get("background")),
        tasks=tuple(_tasks(kept)) if source == "resume" else (),
        jobs=_values(kept.get("jobs")) if source == "resume" else (),
        worktree=_worktree(kept.get("entered_worktree")),
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _worktree(value: object) -> tuple[str, bool] | None:
    path = _text(value.get("path")) if isinstance(value, dict) else None
    return None if path is None or not isinstance(value, dict) else (path, value.get("made") is True)


def _commands(value: object) -> tuple[str, ...]:
    return tuple(f"{id} ({words})" for id, words in value.items()) if isinstance(value, dict) else ()


def _tasks(kept: dict[str, Any]) -> Iterator[KeptTask]:
    for name, value in kept.items():
        if name.startswith(STATE_KEY):
            with contextlib.suppress(msgspec.ValidationError):
                yield msgspec.convert(value, KeptTask)


def _values(value: object) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list) else ()


def _texts(value: object) -> tuple[str, ...]:
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()


def _new(
    store: SessionStore, options: Options, cwd: str, branch: str | None, mirror: Mirror | None
) -> SessionWriter:
    if not options.persist:
        return store.unsaved(cwd, session_id=options.session_id)
    writer = store.create(
        cwd, session_id=options.session_id, kind=options.kind, git_branch=branch, mirror=mirror
    )
    if options.title:
        try:
            writer.title(options.title)
        except BaseException:
            writer.close()
            raise
    return writer


def results_dir(writer: SessionWriter) -> str:
    """The directory for output that is too large for the conversation."""
    if not writer.saved:
        return str(writer.scratch())
    from checkrein.runtime.store.layout import companion_dir

    return str(companion_dir(writer.path) / "tool-results")


def env_file(writer: SessionWriter) -> str:
    """The file where hooks write variables for every command."""
    return f"{results_dir(writer)}/hook-env.sh"


def checkpoints_dir(writer: SessionWriter, project: Project, env: Mapping[str, str]) -> Path | None:
    """The copies of files from before their change; None when the session keeps nothing. A program on the
    SDK has to ask for them."""
    if not writer.saved or project.setting("fileCheckpointingEnabled") is False:
        return None
    if env.get(SDK_ENV) and env.get(SDK_CHECKPOINTS_ENV, "").lower() not in ("1", "true"):
        return None
    from checkrein.runtime.store.layout import companion_dir

    return companion_dir(writer.path) / "file-history"
