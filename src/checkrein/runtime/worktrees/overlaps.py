"""Where the work of several worktrees meets, before anybody merges it: the same file changed twice.

Each is compared with the commit where it left the main checkout, so what is merged already counts no more.
Whether the lines of a file collide, only a merge can tell; files with the same content on both sides do not
meet.
"""

from __future__ import annotations

import filecmp
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from checkrein.base.harmless import one_line
from checkrein.runtime.context.reminders import quoted
from checkrein.runtime.worktrees.condition import is_tied
from checkrein.runtime.worktrees.git_calls import decoded
from checkrein.runtime.worktrees.removal import admin_dir

if TYPE_CHECKING:
    from checkrein.llm.cancel import Cancel
    from checkrein.runtime.worktrees.git_calls import Git
    from checkrein.runtime.worktrees.worktree import Row
    from checkrein.runtime.worktrees.worktrees import Worktrees

Change = Literal["changed", "deleted"]
MAIN = "the main checkout"
_DIFF = ("diff", "--name-status", "-z", "--no-renames", "--no-ext-diff", "--no-textconv")
_SHOWN = 20
_LARGEST = 10_000_000
"""Larger files count as different."""


class Changes(Struct, frozen=True, kw_only=True):
    """What somebody changed since a commit. `loose` are files that are not committed. `unknown` says why git
    could not tell."""

    name: str
    path: str
    branch: str = ""
    base: str = ""
    files: dict[str, Change] = {}
    loose: tuple[str, ...] = ()
    unknown: str = ""


class Overlap(Struct, frozen=True):
    """A file that two have changed: each name with what it did."""

    file: str
    names: tuple[str, str]
    did: tuple[Change, Change]

    @property
    def words(self) -> str:
        (first, second), (one, two) = self.names, self.did
        also = "" if one == two else f", {two}"
        return f"{one_line(self.file)}: {one} by {first}{also or ' and'} by {second}"


class Comparison(Struct, frozen=True):
    """`unknown` are those that could not be compared, with the reason."""

    works: tuple[Changes, ...]
    overlaps: tuple[Overlap, ...]
    unknown: tuple[str, ...] = ()

    def of(self, path: str) -> str:
        """What one worktree changed, for a model that may merge it; "" when that is nothing."""
        work = self._at(path)
        if work is None or not (work.files or work.unknown):
            return ""
        if work.unknown:
            return f"What it changed is not known: {work.unknown}."
        return _told(work, self.conflicts(path), self.unknown)

    def conflicts(self, path: str) -> tuple[str, ...]:
        work = self._at(path)
        return tuple(one.words for one in self.overlaps if work is not None and work.name in one.names)

    def _at(self, path: str) -> Changes | None:
        return next((one for one in self.works if one.path == path), None)


def compare(trees: Worktrees, cancel: Cancel, called: Callable[[Row], str]) -> Comparison:
    rows = [row for row in trees.list(cancel) if row.state in ("in_use", "dirty") and os.path.isdir(row.path)]
    names = _distinct([(called(row), row.name) for row in rows])
    works = [_work(trees, name, row, cancel) for name, row in zip(names, rows)]
    known = [work for work in works if work.files]
    root = trees.repository.root
    mains = {base: _since(MAIN, root, base, trees.git, cancel) for base in {work.base for work in known}}
    found = [meeting for one, two in combinations(known, 2) for meeting in _meet(one, two)]
    found += [meeting for work in known for meeting in _meet(work, mains[work.base])]
    unknown = {one.name: one.unknown for one in (*works, *mains.values()) if one.unknown}
    return Comparison(tuple(works), tuple(found), tuple(f"{name} ({why})" for name, why in unknown.items()))


def _distinct(names: list[tuple[str, str]]) -> list[str]:
    """How each is called, or else, where two are called the same, its own name too."""
    said = Counter(name for name, _ in names)
    return [name if said[name] == 1 else f"{name} ({own})" for name, own in names]


def _work(trees: Worktrees, name: str, row: Row, cancel: Cancel) -> Changes:
    """What a worktree has that the commit of the main checkout does not have."""
    repository, git, path = trees.repository, trees.git, row.path
    own = admin_dir(repository, row.name)
    if own is None or not is_tied(repository, path, own):
        return Changes(name=name, path=path, unknown="git does not know it")
    main = git.text(repository.root, cancel, "rev-parse", "--verify", "--quiet", "HEAD")
    base = git.text(path, cancel, "merge-base", "HEAD", main) if main else None
    if base is None:
        return Changes(name=name, path=path, unknown="it has no commit in common with the main checkout")
    return replace(_since(name, path, base, git, cancel), branch=row.branch)


def _told(work: Changes, own: tuple[str, ...], unknown: tuple[str, ...]) -> str:
    lines = [f"It changed, on the branch {work.branch}: {_listed(work.files)}."]
    if work.loose:
        lines.append(f"Not committed: {_listed(work.loose)}.")
    if own:
        lines.append("Conflicts to expect. Look at both sides before you merge:")
        lines += [f"- {one}" for one in own[:_SHOWN]]
        lines += [f"- and {len(own) - _SHOWN} more"] if len(own) > _SHOWN else []
    if unknown:
        lines.append(f"Not compared with {', '.join(unknown)}.")
    return quoted("\n".join(lines))


def _since(name: str, path: str, base: str, git: Git, cancel: Cancel) -> Changes:
    since = git.call(path, cancel, *_DIFF, base, "--")
    new = git.call(path, cancel, "ls-files", "-z", "--others", "--exclude-standard")
    open_ = git.call(path, cancel, *_DIFF, "HEAD", "--")
    if any(done.exit_code or done.truncated for done in (since, new, open_)):
        return Changes(name=name, path=path, base=base, unknown="git can't tell what changed")
    untracked = [one for one in decoded(new.stdout).split("\0") if one]
    files = _statuses(decoded(since.stdout)) | dict.fromkeys(untracked, "changed")
    loose = (*_statuses(decoded(open_.stdout)), *untracked)
    return Changes(name=name, path=path, base=base, files=files, loose=tuple(dict.fromkeys(loose)))


def _statuses(text: str) -> dict[str, Change]:
    fields = text.split("\0")
    return {
        name: "deleted" if status == "D" else "changed" for status, name in zip(fields[::2], fields[1::2])
    }


def _meet(one: Changes, two: Changes) -> list[Overlap]:
    both = sorted(one.files.keys() & two.files.keys())
    found = [
        Overlap(file, (one.name, two.name), (one.files[file], two.files[file]))
        for file in both
        if not _is_same(one, two, file)
    ]
    return [*found, *_in_the_way(one, two), *_in_the_way(two, one)]


def _in_the_way(one: Changes, two: Changes) -> list[Overlap]:
    """Files of one where the other has a directory."""
    folders = {above for file, did in two.files.items() if did == "changed" for above in _above(file)}
    return [
        Overlap(file, (one.name, two.name), ("changed", "changed"))
        for file in sorted(folders & one.files.keys())
        if one.files[file] == "changed"
    ]


def _above(file: str) -> Iterator[str]:
    while file := os.path.dirname(file):
        yield file


def _is_same(one: Changes, two: Changes, file: str) -> bool:
    if one.files[file] == two.files[file] == "deleted":
        return True
    paths = [os.path.join(work.path, file) for work in (one, two)]
    try:
        if any(os.path.islink(path) for path in paths):
            return os.readlink(paths[0]) == os.readlink(paths[1])
        if os.stat(paths[0]).st_size > _LARGEST:
            return False
        same_mode = os.access(paths[0], os.X_OK) == os.access(paths[1], os.X_OK)
        return same_mode and filecmp.cmp(paths[0], paths[1], shallow=False)
    except OSError:
        return False


def _listed(names: Iterable[str]) -> str:
    found = [one_line(name) for name in sorted(names)]
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return ", ".join(found[:_SHOWN]) + more
