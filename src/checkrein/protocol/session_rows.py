"""The user's sessions as rows: a list, and what a search finds in them. Secrets are hidden."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from checkrein.base.errors import NotFoundError
from checkrein.base.secrets import redact_text

if TYPE_CHECKING:
    from checkrein.runtime.store.values import Match, SessionInfo

_LONGEST = 200


class Row(Struct, frozen=True, kw_only=True):
    """`summary` is the title, else the newest prompt. `stopped` says that the session has its result."""

    session_id: str
    summary: str
    updated_at: str | None
    created_at: str | None
    prompts: int
    messages: int
    stopped: bool
    kind: str
    model: str | None
    branch: str | None
    directory: str | None
    path: str


class Rows(Struct, frozen=True, kw_only=True):
    """Newest first. `total` counts the sessions, also those beyond the limit."""

    sessions: tuple[Row, ...]
    total: int


class Hit(Struct, frozen=True, kw_only=True):
    """A prompt or a reply that holds the text. `line` is its line in the transcript."""

    session_id: str
    summary: str
    updated_at: str | None
    directory: str | None
    role: str
    line: int
    excerpt: str
    path: str


class Hits(Struct, frozen=True, kw_only=True):
    """Newest session first. `more` says that the limit left some out."""

    text: str
    hits: tuple[Hit, ...]
    more: bool


def list_rows(project: str | None, limit: int) -> Rows:
    """The sessions of a project, or of all."""
    from checkrein.runtime.store import SessionStore

    found = SessionStore().list(_place(project))
    return Rows(sessions=tuple(_row(info) for info in found[:limit]), total=len(found))


def search_rows(text: str, project: str | None, limit: int) -> Hits:
    from checkrein.runtime.store import SessionStore

    found = SessionStore().search(text, _place(project), limit=limit + 1)
    return Hits(text=text, hits=tuple(_hit(match) for match in found[:limit]), more=len(found) > limit)


def row_of(path: Path) -> Row:
    """The row of one transcript."""
    from checkrein.runtime.store import SessionStore

    found = next(info for info in SessionStore().list() if info.path == path)
    return _row(found)


def _place(project: str | None) -> Path | None:
    if project is None:
        return None
    if not os.path.isdir(project):
        raise NotFoundError(f"{project} is not a directory.", kind="project_not_found")
    return Path(project)


def _row(info: SessionInfo) -> Row:
    return Row(
        session_id=info.session_id,
        summary=_short(info.summary),
        updated_at=info.updated_at,
        created_at=info.created_at,
        prompts=info.prompt_count,
        messages=info.message_count,
        stopped=info.stopped,
        kind=info.kind,
        model=info.model,
        branch=info.git_branch,
        directory=info.cwd,
        path=str(info.path),
    )


def _hit(match: Match) -> Hit:
    info = match.session
    return Hit(
        session_id=info.session_id,
        summary=_short(info.summary),
        updated_at=info.updated_at,
        directory=info.cwd,
        role=match.role,
        line=match.line,
        excerpt=redact_text(match.excerpt),
        path=str(info.path),
    )


def _short(text: str) -> str:
    plain = " ".join(redact_text(text).split())
    return plain if len(plain) <= _LONGEST else plain[: _LONGEST - 1] + "…"
