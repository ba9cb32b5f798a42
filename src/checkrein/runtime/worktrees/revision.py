"""The files that make the policy of a project, as a commit or the work tree has them.

They are copied to a temporary directory, by their names in the commit. Nothing is checked out: blobs are read
as they are, so no hook, filter, attribute or submodule of the repository has a part in it.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from msgspec import Struct

from checkrein.base.errors import FileError, NotFoundError, UsageError
from checkrein.base.files import read_bytes
from checkrein.llm.cancel import Cancel
from checkrein.runtime.process.git import LARGEST, run_git
from checkrein.runtime.process.spawner import Completed, Spawner

_HOLDERS = frozenset((".claude", ".checkrein", ".claude-plugin"))
_FILES = frozenset(("checkrein.toml", "pyproject.toml", ".mcp.json", "CLAUDE.md", "AGENTS.md", ".gitignore"))
_REGULAR = ("100644", "100755")
_MOST = 5000
_LARGEST_FILE = 4 << 20
_PATIENCE = 60.0


class Revision(Struct, frozen=True):
    """`path` is the project's directory in the copy. `skipped` are files that were left out: links, or too
    large."""

    name: str
    path: str
    skipped: tuple[str, ...] = ()


class Pair(Struct, frozen=True):
    """Two revisions; None is the work tree."""

    before: str
    after: str | None = None
    fork: bool = False
    """Compare from where the two branched."""


def pair_of(text: str) -> Pair:
    """`A..B`, `A...B` from where they branched, `A..` up to HEAD, `A` alone up to the work tree."""
    for dots, fork in (("...", True), ("..", False)):
        before, found, after = text.partition(dots)
        if found:
            return Pair(_name(before or "HEAD"), _name(after or "HEAD"), fork)
    return Pair(_name(text))


def _name(text: str) -> str:
    if not text or text.startswith("-") or any(char.isspace() or not char.isprintable() for char in text):
        raise UsageError(f"{text!r} does not name a commit.", hint="Write REV..REV, such as main..HEAD.")
    return text


class Revisions:
    """Reads revisions of the repository around a directory."""

    def __init__(self, cwd: str, env: Mapping[str, str], spawner: Spawner) -> None:
        self._cwd = os.path.realpath(cwd)
        self._env = env
        self._spawner = spawner
        self._top = _top(self._cwd)
        self._below = os.path.relpath(self._cwd, self._top)

    def ends(self, pair: Pair) -> tuple[str, str | None]:
        """The two commits of a pair; None is the work tree."""
        before = self._commit(pair.before)
        after = None if pair.after is None else self._commit(pair.after)
        if pair.fork and after is not None:
            before = self._text("merge-base", before, after)
        return before, after

    def copied(self, commit: str | None, name: str, into: str) -> Revision:
        """Write the files of a commit, or of the work tree, below `into`."""
        skipped: list[str] = []
        files = self._working(skipped) if commit is None else self._committed(commit, skipped)
        os.makedirs(os.path.join(into, ".git"))
        for path, data in files:
            target = os.path.join(into, path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "xb") as file:
                file.write(data)
        project = os.path.normpath(os.path.join(into, self._below))
        os.makedirs(project, exist_ok=True)
        return Revision(name, project, tuple(skipped))

    def _committed(self, commit: str, skipped: list[str]) -> Iterator[tuple[str, bytes]]:
        listed = self._raw(("ls-tree", "-r", "-z", "--full-tree", "-l", commit))
        wanted: dict[str, str] = {}
        for entry in listed.split(b"\0"):
            fields, _, name = entry.partition(b"\t")
            path = os.fsdecode(name)
            if not name or not _counts(path):
                continue
            mode, _, id, size = fields.decode("ascii", "replace").split()
            if mode in _REGULAR and size.isdecimal() and int(size) <= _LARGEST_FILE:
                wanted[path] = id
            else:
                skipped.append(path)
        if len(wanted) > _MOST:
            raise FileError(f"{commit} has {len(wanted)} settings files, more than {_MOST}.")
        if not wanted:
            return
        batch = self._raw(("cat-file", "--batch"), "".join(f"{id}\n" for id in wanted.values()).encode())
        at = 0
        for path in wanted:
            end = batch.index(b"\n", at)
            length = int(batch[at:end].rsplit(b" ", 1)[1])
            yield path, batch[end + 1 : end + 1 + length]
            at = end + 2 + length

    def _working(self, skipped: list[str]) -> Iterator[tuple[str, bytes]]:
        listed = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--full-name", ":/")
        for name in dict.fromkeys(self._raw(listed).split(b"\0")):
            path = os.fsdecode(name)
            if not name or not _counts(path):
                continue
            found = os.path.join(self._top, path)
            read = read_bytes(found, limit=_LARGEST_FILE, within=(self._top,))
            if os.path.islink(found) or read.problem is not None:
                if os.path.lexists(found):
                    skipped.append(path)
                continue
            yield path, read.data

    def _commit(self, name: str) -> str:
        found = self._done(("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"))
        commit = found.stdout.decode("ascii", "replace").strip()
        if found.exit_code or not commit:
            raise NotFoundError(
                f"{name} is not a commit here.",
                kind="revision_not_found",
                hint="A shallow clone of a CI job has few commits; fetch the one to compare with.",
            )
        return commit

    def _text(self, *arguments: str) -> str:
        return os.fsdecode(self._raw(arguments)).removesuffix("\n")

    def _raw(self, arguments: tuple[str, ...], stdin: bytes = b"") -> bytes:
        done = self._done(arguments, stdin)
        if done.exit_code or done.size > LARGEST:
            said = os.fsdecode(done.stderr).strip() or "its answer is too large"
            raise FileError(f"git {arguments[0]} failed in {self._cwd}: {said}", kind="git_failed")
        return done.stdout

    def _done(self, arguments: tuple[str, ...], stdin: bytes = b"") -> Completed:
        return run_git(
            arguments,
            cwd=self._cwd,
            env=self._env,
            spawner=self._spawner,
            cancel=Cancel(),
            timeout=_PATIENCE,
            stdin=stdin,
        )


def _top(cwd: str) -> str:
    """The directory that holds the repository. Its configuration may name any other as its work tree."""
    here = cwd
    while not os.path.lexists(os.path.join(here, ".git")):
        above = os.path.dirname(here)
        if above == here:
            raise FileError(
                f"{cwd} is not in a git repository.",
                kind="git_failed",
                hint="Run it where the rules are kept.",
            )
        here = above
    return here


def _counts(path: str) -> bool:
    parts = path.split("/")
    if any(part in ("", ".", "..", ".git") for part in parts):
        return False
    return parts[-1] in _FILES or not _HOLDERS.isdisjoint(parts[:-1])


@contextmanager
def both_ends(text: str, cwd: str, env: Mapping[str, str]) -> Iterator[tuple[Revision, Revision]]:
    """Copies of the two revisions that `REV..REV` names. They are gone afterwards."""
    pair = pair_of(text)
    with Spawner(lambda origin: True) as spawner, tempfile.TemporaryDirectory(prefix="checkrein-") as made:
        place = os.path.realpath(made)
        revisions = Revisions(cwd, env, spawner)
        before, after = revisions.ends(pair)
        yield (
            revisions.copied(before, before[:12], os.path.join(place, "before")),
            revisions.copied(
                after, "work tree" if after is None else after[:12], os.path.join(place, "after")
            ),
        )
