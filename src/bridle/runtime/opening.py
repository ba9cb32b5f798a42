"""Opening a session in the store: a new one, one that goes on, or a fork of one."""

from __future__ import annotations

from pathlib import Path

import msgspec

from bridle.base.errors import UsageError
from bridle.llm.port import Message
from bridle.model.project import Place, Project
from bridle.runtime.checkpoints.files import prompts_of
from bridle.runtime.context.compaction import estimate
from bridle.runtime.context.reminders import git_branch
from bridle.runtime.engine import Source
from bridle.runtime.options import Options
from bridle.runtime.sessions import SessionKind, SessionStore, SessionWriter
from bridle.runtime.state import State

_CONTINUABLE: dict[SessionKind, tuple[SessionKind, ...]] = {
    "interactive": ("interactive",),
    "print": ("interactive", "print", "sdk"),
    "sdk": ("interactive", "print", "sdk"),
    "background": ("background",),
    "recipe": ("recipe",),
}


def open_session(options: Options, place: Place, state: State) -> tuple[SessionWriter, Source]:
    """The writer, and how the session starts. A session that goes on brings its messages into `state`."""
    store = SessionStore(options.sessions)
    branch = git_branch(place.repo_root)
    reference = options.resume
    if reference is None and options.continue_:
        newest = store.latest(place.cwd, kinds=_CONTINUABLE[options.kind])
        reference = newest.session_id if newest is not None else None
    if reference is None:
        return _new(store, options, place.cwd, branch), "startup"
    if options.session_id is not None and not options.fork:
        raise UsageError(
            "--session-id needs --fork-session when a session is resumed.", kind="session_id_taken"
        )
    source: Source = "resume"
    if options.fork:
        source = "fork"
        reference = store.fork(reference, place.cwd, session_id=options.session_id, kind=options.kind)
    conversation, writer = store.resume(reference, place.cwd, git_branch=branch)
    state.messages = [msgspec.convert(message, Message) for message in conversation.messages]
    state.tokens = estimate(state.messages)
    state.checkpoints = prompts_of(conversation.checkpoints)
    key = conversation.state.get("prefix")
    state.resumed_key = key if isinstance(key, dict) else None
    return writer, source


def _new(store: SessionStore, options: Options, cwd: str, branch: str | None) -> SessionWriter:
    if not options.persist:
        return store.unsaved(cwd, session_id=options.session_id)
    writer = store.create(cwd, session_id=options.session_id, kind=options.kind, git_branch=branch)
    if options.title:
        writer.title(options.title)
    return writer


def results_dir(writer: SessionWriter) -> str:
    """Where output goes that is too large for the conversation."""
    if not writer.saved:
        return str(writer.scratch())
    from bridle.runtime.sessions.layout import companion_dir

    return str(companion_dir(writer.path) / "tool-results")


def env_file(writer: SessionWriter) -> str:
    """Where hooks write variables that are set before each command."""
    return f"{results_dir(writer)}/hook-env.sh"


def checkpoints_dir(writer: SessionWriter, project: Project) -> Path | None:
    """Where files go before they are changed; None when nothing is to be kept."""
    if not writer.saved or project.setting("fileCheckpointingEnabled") is False:
        return None
    from bridle.runtime.sessions.layout import companion_dir

    return companion_dir(writer.path) / "file-history"
