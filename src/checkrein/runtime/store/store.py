"""The session store: one place for every conversation. All parts of Checkrein keep their sessions here."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from checkrein.base.clock import timestamp_ms
from checkrein.base.errors import UsageError
from checkrein.base.ids import new_uuid
from checkrein.runtime.store import layout
from checkrein.runtime.store.lock import SessionLock, holder_of
from checkrein.runtime.store.transcript_files import TranscriptFile, directory_for
from checkrein.runtime.store.values import Conversation, Match, Outline, SessionInfo, SessionKind
from checkrein.runtime.store.writer import SessionWriter

if TYPE_CHECKING:
    from checkrein.runtime.store.index import SessionIndex
    from checkrein.runtime.store.mirror import Mirror

T = TypeVar("T")


class SessionStore:
    """Sessions under one root (default: see `layout`). Holds no file open; make one wherever you need it.

    A `reference` is an id, the start of one (4 characters) or a title; the search starts in the project of
    `cwd`.
    """

    def __init__(self, root: str | Path | None = None) -> None:
        self._named = Path(root) if root is not None else layout.named_root()
        self.root = Path(os.path.realpath(self._named))

    # -- writing --

    def create(
        self,
        cwd: str | Path,
        *,
        session_id: str | None = None,
        kind: SessionKind = "interactive",
        git_branch: str | None = None,
        mirror: Mirror | None = None,
    ) -> SessionWriter:
        """A new session. Raises `session_exists` when the id is taken."""
        directory = layout.project_dir(self.root, cwd)
        path = self._free_path(directory, session_id)
        file = self._open(path, create=True)
        if file.size:
            file.close()
            raise layout.exists(path)
        writer = SessionWriter(path.stem, file, cwd=layout.canonical(cwd), git_branch=git_branch, kind=kind)
        writer.mirror = mirror
        return writer

    def unsaved(self, cwd: str | Path, *, session_id: str | None = None) -> SessionWriter:
        """A session that leaves no file; its writer works like any other."""
        name = layout.checked_id(session_id) if session_id else new_uuid()
        return SessionWriter(name, TranscriptFile.nowhere(), cwd=layout.canonical(cwd))

    def resume(
        self,
        reference: str,
        cwd: str | Path,
        *,
        git_branch: str | None = None,
        leaf: str | None = None,
        mirror: Mirror | None = None,
    ) -> tuple[Conversation, SessionWriter]:
        """Continue a session. It writes results for calls that were cut off into the file, so that every
        reader sees the same.

        The conversation holds those results; `interrupted` names them once. `leaf` continues another branch.
        """
        from checkrein.runtime.store.load import load

        path = self.find(reference, cwd)
        file = self._open(path)
        try:
            conversation = load(path, leaf=leaf)
            writer = SessionWriter(
                path.stem,
                file,
                cwd=layout.canonical(cwd),
                git_branch=git_branch,
                leaf=conversation.leaf,
                title=conversation.title,
            )
            writer.mirror = mirror
            if leaf is not None:
                writer.rewind(conversation.leaf)
            self._answer(conversation, writer)
        except BaseException:
            file.close()
            raise
        return replace(conversation, leaf=writer.leaf), writer

    def fork(
        self,
        reference: str,
        cwd: str | Path,
        *,
        at: str | None = None,
        session_id: str | None = None,
        title: str | None = None,
        kind: SessionKind = "interactive",
    ) -> str:
        """A new session that begins with the conversation of another (up to entry `at`); returns its id."""
        from checkrein.runtime.store.fork import fork

        source = self.find(reference, cwd)
        target = self._free_path(layout.project_dir(self.root, cwd), session_id)
        layout.refuse_links(self.root, target.parent)
        fork(source, target, cwd=layout.canonical(cwd), at=at, title=title, kind=kind)
        return target.stem

    def mirror(self) -> Mirror:
        """A copy of what the writers that get it will write, for somebody who attaches."""
        from checkrein.runtime.store.mirror import Mirror

        return Mirror(self.root, self._named)

    def rename(self, reference: str, title: str, cwd: str | Path | None = None) -> None:
        """Give a session a title. Refuses a session that is open elsewhere, as for any second writer."""
        name = " ".join(title.split())
        if not name:
            raise UsageError("A title can't be empty.", kind="invalid_title")
        self._annotate(reference, cwd, lambda writer: writer.title(name))

    def tag(self, reference: str, tag: str, cwd: str | Path | None = None) -> None:
        """Label a session; an empty tag removes the label."""
        self._annotate(reference, cwd, lambda writer: writer.tag(tag.strip()))

    def delete(self, session_id: str, cwd: str | Path | None = None) -> bool:
        """Remove a session and all files beside it. False when it does not exist: deleting twice is fine."""
        from checkrein.runtime.store.find import find_id

        layout.checked_id(session_id)
        path = find_id(self.root, session_id, cwd)
        if path is None:
            return False
        from checkrein.runtime.store.remove import remove

        return remove(self.root, path)

    # -- reading --

    def find(self, reference: str, cwd: str | Path | None = None) -> Path:
        """The transcript that a reference means, or NotFoundError (`session_not_found`)."""
        from checkrein.runtime.store.find import find

        return find(self.root, reference, cwd, self._listed)

    def load(self, reference: str, cwd: str | Path | None = None, *, leaf: str | None = None) -> Conversation:
        from checkrein.runtime.store.load import load

        return load(self.find(reference, cwd), leaf=leaf)

    def outline(self, reference: str, cwd: str | Path | None = None) -> Outline:
        """Like `load` without the messages; works for files of any size."""
        from checkrein.runtime.store.load import outline

        return outline(self.find(reference, cwd))

    def holder(self, reference: str, cwd: str | Path | None = None) -> int | None:
        """The process that has the session open (0: unknown), or None."""
        return holder_of(self.find(reference, cwd))

    def list(
        self, cwd: str | Path | None = None, *, limit: int | None = None, offset: int = 0
    ) -> tuple[SessionInfo, ...]:
        """Newest first by recorded time; of one project, or of all."""
        project = layout.project_dir(self.root, cwd) if cwd is not None else None
        found = self._listed(project, layout.canonical(cwd) if cwd is not None else None)
        return found[offset:] if limit is None else found[offset : offset + limit]

    def latest(
        self, cwd: str | Path, *, kinds: tuple[SessionKind, ...] = ("interactive",)
    ) -> SessionInfo | None:
        """What `--continue` means: the newest session of the project, of these kinds, that has messages. One
        whose time has not come yet (the clock was wrong) is older than all others."""
        found = [info for info in self.list(cwd) if info.kind in kinds and info.message_count]
        past = (info for info in found if (info.updated_at or "") <= timestamp_ms())
        return next(past, found[0] if found else None)

    def search(self, text: str, cwd: str | Path | None = None, *, limit: int = 50) -> tuple[Match, ...]:
        """Messages that hold `text`, in any case: prompts and replies, the first 4,096 characters of each."""
        if not text.strip():
            raise UsageError("Search for at least one word.", kind="empty_search")
        project = layout.project_dir(self.root, cwd) if cwd is not None else None
        own = layout.canonical(cwd) if cwd is not None else None

        def found(index: SessionIndex) -> Iterator[Match]:
            matches = index.search(text.strip(), project)
            return (match for match in matches if own is None or not _belongs_elsewhere(match.session, own))

        return self._ask(project, lambda index: tuple(islice(found(index), limit)))

    def export(
        self, reference: str, cwd: str | Path | None = None, *, form: str = "markdown", redact: bool = True
    ) -> Iterator[str]:
        """The session as text in pieces: `markdown`, `html` (one file), `json` (the conversation) or `jsonl`
        (the file's entries)."""
        from checkrein.runtime.store.export import export

        return export(self.find(reference, cwd), form, redact=redact)

    def subagents(self, reference: str, cwd: str | Path | None = None) -> tuple[str, ...]:
        """The ids of a session's children."""
        from checkrein.runtime.store.companions import subagent_ids

        return subagent_ids(self.find(reference, cwd))

    def load_subagent(self, reference: str, agent_id: str, cwd: str | Path | None = None) -> Conversation:
        from checkrein.runtime.store.companions import subagent_path
        from checkrein.runtime.store.load import load

        return load(subagent_path(self.find(reference, cwd), agent_id), aside=True)

    # -- inside --

    def _free_path(self, directory: Path, session_id: str | None) -> Path:
        if session_id is not None:
            from checkrein.runtime.store.find import find_id

            path = layout.session_path(directory, session_id)
            if find_id(self.root, session_id) is not None:
                raise layout.exists(path)
            return path
        while True:
            path = layout.session_path(directory, new_uuid())
            if not path.exists():
                return path

    def _open(self, path: Path, *, create: bool = False) -> TranscriptFile:
        layout.refuse_links(self.root, path.parent)
        if create:
            directory_for(path)
        lock = SessionLock.acquire(path)
        try:
            return TranscriptFile.open(path, lock, create=create)
        except BaseException:
            lock.release()
            raise

    def _answer(self, conversation: Conversation, writer: SessionWriter) -> None:
        wanted = {call.id for call in conversation.interrupted if call != conversation.deferred}
        answers = [
            block
            for message in conversation.messages
            if message["role"] == "user"
            for block in message["content"]
            if block["type"] == "tool_result" and block["tool_use_id"] in wanted
        ]
        if answers:
            writer.user(answers, checkrein={"repair": "interrupted"})

    def _annotate(
        self, reference: str, cwd: str | Path | None, note: Callable[[SessionWriter], None]
    ) -> None:
        path = self.find(reference, cwd)
        with SessionWriter(path.stem, self._open(path), cwd="") as writer:
            note(writer)

    def _listed(self, project: Path | None, cwd: str | None = None) -> tuple[SessionInfo, ...]:
        found = self._ask(project, lambda index: tuple(index.sessions(project)))
        if cwd is None:
            return found
        return tuple(info for info in found if not _belongs_elsewhere(info, cwd))

    def _ask(self, project: Path | None, question: Callable[[SessionIndex], T]) -> T:
        from checkrein.runtime.store.index import ask

        return ask(self.root, project, question)


def _belongs_elsewhere(info: SessionInfo, cwd: str) -> bool:
    """Two directories can share a project name (`/a-b` and `/a/b`); the recorded directory tells them
    apart."""
    return info.cwd is not None and info.cwd != cwd and layout.safe_name(info.cwd) == info.path.parent.name
