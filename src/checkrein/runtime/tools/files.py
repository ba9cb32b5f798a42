"""Open exactly the files that the gate approved.

The gate approves canonical paths: absolute, without links. This module opens a path from the root, one
component after the other, and never through a link. A link that appears after the approval makes the call
fail. A write goes through a temporary file in the same directory.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from typing import TYPE_CHECKING

from checkrein.runtime.tools.desk import is_within
from checkrein.runtime.tools.port import ToolFailure

if TYPE_CHECKING:
    from checkrein.runtime.tools.port import ToolContext

_DIRECTORY = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def _absolute(path: str, context: ToolContext) -> str:
    """The path that the model means: resolves `~` and relative paths, leaves links and `..` as they are."""
    if "\0" in path or not path.strip():
        raise ToolFailure("The path is empty or holds a NUL character.")
    if path == "~" or path.startswith("~/"):
        path = context.home + path[1:]
    return os.path.join(context.cwd, path)


def canonical(path: str, context: ToolContext) -> str:
    return os.path.realpath(_absolute(path, context))


def approved(path: str, context: ToolContext) -> str:
    """The canonical path of a tool's input. Fails when the gate has not approved it."""
    real = canonical(path, context)
    if real not in context.approved_paths:
        raise ToolFailure(f"{path} leads to {real}, which was not approved. Nothing was done.")
    return real


def approved_place(path: str, context: ToolContext) -> str:
    """The same for a place to search: an approved path or a directory below one."""
    real = canonical(path, context)
    if not is_within(real, context.approved_paths):
        raise ToolFailure(f"{path} leads to {real}, which was not approved. Nothing was done.")
    return real


def open_directory(real: str, *, shown: str | None = None) -> int:
    """A descriptor of the directory at a canonical path."""
    try:
        with _parent(real) as (directory, name):
            return os.open(name, _DIRECTORY, dir_fd=directory)
    except OSError as error:
        raise failure(error, shown or real) from None


def read(real: str, limit: int, *, shown: str | None = None) -> bytes:
    """The bytes of a regular file of at most `limit` bytes."""
    descriptor = open_regular(real, shown=shown)
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise ToolFailure(f"{shown or real} is larger than {limit >> 20} MiB.")
    return data


def open_regular(real: str, *, shown: str | None = None) -> int:
    """A descriptor of the regular file at a canonical path."""
    shown = shown or real
    try:
        with _parent(real) as (directory, name):
            descriptor = os.open(name, _READ, dir_fd=directory)
    except OSError as error:
        raise failure(error, shown) from None
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    kind = os.fstat(descriptor).st_mode
    os.close(descriptor)
    if stat.S_ISDIR(kind):
        raise ToolFailure(f"{shown} is a directory. Use Glob, or `ls` with Bash, to see what is in it.")
    raise ToolFailure(f"{shown} is not a regular file.")


def exists(real: str) -> bool:
    try:
        with _parent(real) as (directory, name):
            os.stat(name, dir_fd=directory, follow_symlinks=False)
    except OSError:
        return False
    return True


def replace(real: str, data: bytes, *, expected: bytes | None = None, shown: str | None = None) -> None:
    """Write a file completely or not at all, with its old mode; make missing directories.

    With `expected`, write only if the file holds exactly that until the last moment."""
    try:
        with _parent(real, create=True) as (directory, name):
            mode = _mode_of(name, directory)
            temporary = f".{name[:200]}.{os.urandom(6).hex()}.tmp"
            descriptor = os.open(temporary, _CREATE, 0o600 if mode is not None else 0o666, dir_fd=directory)
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(data)
                    file.flush()
                    if mode is not None:
                        os.fchmod(file.fileno(), mode)
                    os.fsync(file.fileno())
                if expected is not None and read(real, len(expected) + 1, shown=shown) != expected:
                    raise ToolFailure(
                        f"{shown or real} has just changed. Nothing was written. Read it again."
                    )
                os.replace(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(temporary, dir_fd=directory)
                raise
    except OSError as error:
        raise failure(error, shown or real) from None


def remove(real: str) -> None:
    """Delete the file at a canonical path; never through a link."""
    with _parent(real) as (directory, name):
        os.unlink(name, dir_fd=directory)


def failure(error: OSError, shown: str) -> ToolFailure:
    """What to tell the model about a file that can't be opened."""
    if error.errno in (errno.ELOOP, errno.ENOTDIR):
        return ToolFailure(f"{shown} is not the approved file: its path now goes through a link or a file.")
    if error.errno == errno.ENOENT:
        return ToolFailure(f"{shown} does not exist.")
    if error.errno == errno.EISDIR:
        return ToolFailure(f"{shown} is a directory, not a file.")
    return ToolFailure(f"{shown} can't be opened: {error.strerror or error}.")


@contextlib.contextmanager
def _parent(real: str, create: bool = False) -> Iterator[tuple[int, str]]:
    """The directory of a canonical path, opened without following any link, and the last component."""
    *directories, name = real.lstrip("/").split("/")
    current = os.open("/", _DIRECTORY)
    try:
        for part in directories:
            try:
                below = os.open(part, _DIRECTORY, dir_fd=current)
            except FileNotFoundError:
                if not create:
                    raise
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, dir_fd=current)
                below = os.open(part, _DIRECTORY, dir_fd=current)
            os.close(current)
            current = below
        yield current, name or "."
    finally:
        os.close(current)


def _mode_of(name: str, directory: int) -> int | None:
    try:
        found = os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(found):
        raise OSError(errno.ELOOP, "is a link")
    if stat.S_ISDIR(found):
        raise OSError(errno.EISDIR, "is a directory")
    if not stat.S_ISREG(found):
        raise OSError(errno.EINVAL, "is not a regular file")
    return stat.S_IMODE(found)
