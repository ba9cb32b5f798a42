"""Copies of files from before a prompt changed them, kept beside the session.

`index.jsonl` has one line for the first change that a prompt's tools make to a file. The contents are beside
it, named by their digest. Links, files with a second name and files that are too large are neither kept nor
restored.
"""

from __future__ import annotations

import contextlib
import os
import stat
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from checkrein.base import jsonl
from checkrein.base.files import write_atomic
from checkrein.base.home import private_dir
from checkrein.runtime.tools.desk import digest
from checkrein.runtime.tools.port import ToolFailure

KEPT = 100
LARGEST = 64 << 20
_INDEX = "index.jsonl"


class Change(Struct, frozen=True, omit_defaults=True):
    """The first change of `path` after the prompt `message`. `before` is the digest of the old content, None
    when the file did not exist."""

    message: str
    path: str
    before: str | None = None
    mode: int = 0o644


class Restored(Struct, frozen=True):
    """What a rewind did: files it restored, newer files it deleted, files it did not touch; and how many
    lines came back and went away with that."""

    restored: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    insertions: int = 0
    deletions: int = 0

    def __str__(self) -> str:
        parts = [
            f"{len(self.restored)} file(s) restored",
            f"{len(self.deleted)} new file(s) deleted",
        ]
        if self.skipped:
            parts.append(f"not touched: {', '.join(self.skipped)}")
        return "; ".join(parts)


class Checkpoints:
    """The checkpoints of one session. `directory` None keeps nothing. Safe to call from several threads.

    `messages` are the prompts of a resumed session, oldest first.
    """

    def __init__(self, directory: Path | None, messages: Iterable[str] = ()) -> None:
        self._directory = directory
        self._messages = list(messages)[-KEPT:]
        self._changes: list[Change] = self._load()
        self._lock = threading.Lock()

    @property
    def kept(self) -> bool:
        """Whether files can be restored at all."""
        return self._directory is not None

    @property
    def messages(self) -> tuple[str, ...]:
        return tuple(self._messages)

    def begin(self, message: str) -> None:
        """Start a prompt: later changes belong to it. Only the newest hundred prompts stay."""
        with self._lock:
            self._messages.append(message)
            if len(self._messages) > KEPT:
                del self._messages[:-KEPT]
                self._prune()

    def before_change(self, path: str) -> None:
        """Keep a file's content before a tool changes it. `path` is canonical. The tool goes on even when the
        file can't be kept."""
        if self._directory is None or not self._messages:
            return
        with self._lock:
            message = self._messages[-1]
            if any(one.message == message and one.path == path for one in self._changes):
                return
            try:
                change = self._keep(message, path)
            except OSError:
                return
            if change is not None:
                self._changes.append(change)
                self._write(change)

    def rewind(self, message: str, *, again: bool = False, dry_run: bool = False) -> Restored:
        """Restore every file to its content before the prompt `message`. With `again` that prompt stays in
        the conversation, and one can go back to it again. A dry run only says what would happen."""
        with self._lock:
            place = self._messages.index(message)
            undone = set(self._messages[place:])
            first: dict[str, Change] = {}
            for change in self._changes:
                if change.message in undone:
                    first.setdefault(change.path, change)
            act = self._foreseen if dry_run else self._put_back
            lines = {path: self._lines(change) for path, change in first.items()}
            outcome = {path: act(change) for path, change in first.items()}
            if not dry_run:
                self._changes = [one for one in self._changes if one.message not in undone]
                del self._messages[place + again :]
                self._rewrite()
        return Restored(
            restored=tuple(path for path, done in outcome.items() if done == "restored"),
            deleted=tuple(path for path, done in outcome.items() if done == "deleted"),
            skipped=tuple(path for path, done in outcome.items() if done == "skipped"),
            insertions=sum(lines[path][0] for path, done in outcome.items() if done != "skipped"),
            deletions=sum(lines[path][1] for path, done in outcome.items() if done != "skipped"),
        )

    def _keep(self, message: str, path: str) -> Change | None:
        try:
            found = os.lstat(path)
        except FileNotFoundError:
            return Change(message, path)
        if not _is_plain(found) or found.st_size > LARGEST:
            return None
        data = Path(path).read_bytes()
        name = digest(data)
        assert self._directory is not None
        kept = private_dir(self._directory) / name
        if not kept.exists():
            write_atomic(kept, data, 0o600)
        return Change(message, path, name, stat.S_IMODE(found.st_mode))

    def _lines(self, change: Change) -> tuple[int, int]:
        """How many lines come back, and how many go away, when the file is restored."""
        from checkrein.runtime.tools.patch import counted

        assert self._directory is not None
        now = _text(Path(change.path))
        return counted(now, "" if change.before is None else _text(self._directory / change.before))

    def _foreseen(self, change: Change) -> str:
        now = os.lstat(change.path) if os.path.lexists(change.path) else None
        if now is not None and not _is_plain(now):
            return "skipped"
        return "deleted" if change.before is None else "restored"

    def _put_back(self, change: Change) -> str:
        """Restore one file. A file that is now a link or has a second name stays untouched."""
        from checkrein.runtime.tools import files

        assert self._directory is not None
        try:
            now = os.lstat(change.path) if os.path.lexists(change.path) else None
            if now is not None and not _is_plain(now):
                return "skipped"
            if change.before is None:
                if now is not None:
                    files.remove(change.path)
                return "deleted"
            files.replace(change.path, (self._directory / change.before).read_bytes())
            _set_mode(change.path, change.mode)
        except (OSError, ToolFailure):
            return "skipped"
        return "restored"

    def _load(self) -> list[Change]:
        if self._directory is None:
            return []
        try:
            lines = (self._directory / _INDEX).read_bytes().splitlines()
        except OSError:
            return []
        found = []
        for line in lines:
            with contextlib.suppress(msgspec.DecodeError, msgspec.ValidationError):
                found.append(msgspec.json.decode(line, type=Change))
        known = set(self._messages)
        return [change for change in found if change.message in known]

    def _write(self, change: Change) -> None:
        assert self._directory is not None
        path = private_dir(self._directory) / _INDEX
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            jsonl.append(descriptor, change)
        finally:
            os.close(descriptor)

    def _prune(self) -> None:
        known = set(self._messages)
        kept = [change for change in self._changes if change.message in known]
        if len(kept) != len(self._changes):
            self._changes = kept
            self._rewrite()

    def _rewrite(self) -> None:
        """Write a new index, and delete contents that it no longer names."""
        if self._directory is None or not self._directory.is_dir():
            return
        text = b"".join(msgspec.json.encode(change) + b"\n" for change in self._changes)
        write_atomic(self._directory / _INDEX, text, 0o600)
        needed = {change.before for change in self._changes} | {_INDEX}
        for name in os.listdir(self._directory):
            if name not in needed:
                with contextlib.suppress(OSError):
                    os.unlink(self._directory / name)


def _set_mode(path: str, mode: int) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        os.fchmod(descriptor, mode)
    finally:
        os.close(descriptor)


def _text(path: Path) -> str:
    """The words of a regular file; nothing of anything else."""
    try:
        if not _is_plain(os.lstat(path)):
            return ""
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _is_plain(found: os.stat_result) -> bool:
    """A regular file with one name."""
    return stat.S_ISREG(found.st_mode) and found.st_nlink == 1


def prompts_of(checkpoints: Sequence[dict[str, object]]) -> list[str]:
    """The prompts that a loaded session's checkpoint marks name, oldest first."""
    return [str(mark["message"]) for mark in checkpoints if mark.get("message")]
