"""Names of worktrees: each is a directory, a part of a branch and a file, and none of them may surprise."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.base.errors import UsageError
from checkrein.base.ids import short_id

LONGEST = 64
BRANCH = "worktree-"
_SEGMENT = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]|\.(?!\.))*")
_TRIES = 1000


def folder_name(name: str) -> str:
    """The name as one folder: a `/` between parts becomes `+`, as branches like `fix/login` have it. Raises
    UsageError for a name that git or a file system could read in another way."""
    parts = name.split("/")
    if len(name) > LONGEST or not all(_is_plain(part) for part in parts):
        raise UsageError(
            f"{name!r} can't be the name of a worktree.",
            kind="worktree_name",
            hint=f"Use letters, digits, `-`, `_`, `.` and `/` between parts; at most {LONGEST} characters.",
        )
    return "+".join(parts)


def any_name() -> str:
    return short_id("work-")[:13]


def candidates(folder: str) -> Iterator[str]:
    """The name, then the same with a number."""
    yield folder
    for number in range(2, _TRIES):
        yield f"{folder}-{number}"


def branch_of(folder: str) -> str:
    return BRANCH + folder


def is_folder(name: str) -> bool:
    """Whether a file of this name can be of a worktree."""
    return all(_is_plain(part) for part in name.split("+")) and "/" not in name


def _is_plain(part: str) -> bool:
    return _SEGMENT.fullmatch(part) is not None and not part.lower().endswith((".", ".lock"))
