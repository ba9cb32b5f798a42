"""The values of worktrees."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from checkrein.runtime.worktrees.repository import BaseRef

RowState = Literal["in_use", "clean", "dirty", "locked", "broken"]


class Worktree(Struct, frozen=True):
    """`base` is the commit that it started from, `root` the main checkout. One that a hook made has neither
    branch nor base."""

    path: str
    name: str
    branch: str
    base: str
    root: str


class Kept(Struct, frozen=True):
    """A worktree that stays, and what is in it."""

    path: str
    name: str
    branch: str
    changes: int
    commits: int
    reason: str


class Row(Struct, frozen=True, kw_only=True):
    """One worktree in a list. `state`: `in_use` has a living owner, `locked` was locked with git by somebody
    else, `broken` was never finished, `dirty` has work that would be lost. `seconds` is its age since the
    last owner took it, None when unknown. `conflicts` are the files that it and another have changed."""

    name: str
    path: str
    branch: str
    state: RowState
    owner: str = ""
    pid: int = 0
    since: str = ""
    seconds: float | None = None
    changes: int = 0
    commits: int = 0
    reason: str = ""
    conflicts: tuple[str, ...] = ()


class Cleaned(Struct, frozen=True):
    """What `clean` removed, and what it left, with the reason."""

    removed: tuple[str, ...]
    left: tuple[tuple[str, str], ...]


class Wishes(Struct, frozen=True, kw_only=True):
    """The settings `worktree.*`, as far as making one needs them."""

    base: BaseRef = "fresh"
    links: tuple[str, ...] = ()
    sparse: tuple[str, ...] = ()


NO_WISHES = Wishes()
