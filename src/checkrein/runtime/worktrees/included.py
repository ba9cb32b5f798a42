"""What a new worktree gets besides the files of its commit: those that `.worktreeinclude` names, and links to
large directories."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from checkrein.llm.cancel import Cancel
    from checkrein.runtime.worktrees.git_calls import Git

INCLUDE = ".worktreeinclude"
_BATCH = 200
_IN = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_OUT = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
_STEP = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_DIRECTORY


def copy_included(root: str, target: str, git: Git, cancel: Cancel) -> int:
    """Copy the files that git ignores and `.worktreeinclude` matches; the number of copies. No link is
    followed and no file replaced."""
    copied = 0
    for name in _matching(root, git, cancel):
        if cancel.cancelled:
            break
        with contextlib.suppress(OSError):
            _copy(root, target, name.split("/"))
            copied += 1
    return copied


def link_directories(root: str, target: str, names: Iterable[str]) -> None:
    """Link directories of the main checkout into the worktree, where it has nothing of that name."""
    for name in names:
        parts = name.rstrip("/").split("/")
        source, link = os.path.join(root, *parts), os.path.join(target, *parts)
        if any(part in ("", ".", "..", ".git") for part in parts) or os.path.realpath(source) != source:
            continue
        if os.path.isdir(source) and os.path.realpath(os.path.dirname(link)) == os.path.dirname(link):
            with contextlib.suppress(OSError):
                os.symlink(source, link)


def _matching(root: str, git: Git, cancel: Cancel) -> Iterator[str]:
    """Git itself reads the patterns, and says what it ignores."""
    file = os.path.join(root, INCLUDE)
    try:
        if not stat.S_ISREG(os.lstat(file).st_mode):
            return
    except OSError:
        return
    listed = ("ls-files", "-z", "--others", "--ignored")
    wanted = git.names(root, cancel, *listed, f"--exclude-from={file}")
    files = [f":(literal){name}" for name in wanted if not name.endswith("/")]
    for at in range(0, len(files), _BATCH):
        yield from git.names(root, cancel, *listed, "--exclude-standard", "--", *files[at : at + _BATCH])


def _copy(root: str, target: str, parts: list[str]) -> None:
    with contextlib.ExitStack() as opened:
        here, there = (_entered(opened, path, None) for path in (root, target))
        for part in parts[:-1]:
            here = _entered(opened, part, here)
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, dir_fd=there)
            there = _entered(opened, part, there)
        with os.fdopen(os.open(parts[-1], _IN, dir_fd=here), "rb") as source:
            status = os.fstat(source.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise OSError
            mode = stat.S_IMODE(status.st_mode) & 0o777
            with os.fdopen(os.open(parts[-1], _OUT, mode, dir_fd=there), "wb") as copy:
                shutil.copyfileobj(source, copy)


def _entered(opened: contextlib.ExitStack, name: str, above: int | None) -> int:
    descriptor = os.open(name, _STEP, dir_fd=above)
    opened.callback(os.close, descriptor)
    return descriptor
