"""From the path that a caller gave to the file that the kernel will open for it.

The caller may have another root, other mounts and, in /proc, another "self" than the warden. Where it has, a
walk follows each part of the path as the kernel does for the caller.
"""

from __future__ import annotations

import errno
import os
import stat

from checkrein.runtime.process.guard import syscalls

_MOST_LINKS = 40
_JUMPS = (b"exe", b"cwd", b"root")

_mounts = os.readlink("/proc/self/ns/mnt") if os.path.exists("/proc/self/ns/mnt") else ""
_root = syscalls.root_of(b"self")
_proc = os.stat("/proc").st_dev if os.path.exists("/proc/self") else 0


def open_program(pid: int, base: str, path: bytes) -> int:
    """A descriptor (of the path alone) of the file, or of `base` itself for an empty path. Raises OSError
    with the error that the caller would get."""
    if not path:
        return os.open(base, os.O_PATH | os.O_CLOEXEC)
    if is_peculiar(path) or not has_our_view(pid):
        return _walk(pid, base, path)
    where = path if path[:1] == b"/" else os.fsencode(base) + b"/" + path
    return os.open(where, os.O_PATH | os.O_CLOEXEC)


def is_peculiar(path: bytes) -> bool:
    """It may lead each process to another file."""
    return b"/proc/" in path or path[:5] == b"/dev/"


def has_our_view(pid: int) -> bool:
    """It has our root and mounts, so an absolute path leads both of us to the same file."""
    if _root is not None:
        return syscalls.root_of(b"%d" % pid) == _root
    return os.readlink(f"/proc/{pid}/ns/mnt") == _mounts and os.readlink(f"/proc/{pid}/root") == "/"


def _walk(pid: int, base: str, path: bytes) -> int:
    root = os.open(f"/proc/{pid}/root", os.O_PATH | os.O_CLOEXEC)
    at = -1
    try:
        at = os.dup(root) if path[:1] == b"/" else os.open(base, os.O_PATH | os.O_CLOEXEC)
        rest = _parts(path)
        links = 0
        while rest:
            part = rest.pop()
            if part == b".." and os.path.sameopenfile(at, root):
                continue
            following = os.open(part, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
            if not stat.S_ISLNK(os.fstat(following).st_mode):
                os.close(at)
                at = following
                continue
            links += 1
            if links > _MOST_LINKS:
                os.close(following)
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            target = _target(pid, part, following)
            os.close(following)
            if target is None:
                at, before = os.open(part, os.O_PATH | os.O_CLOEXEC, dir_fd=at), at
                os.close(before)
                continue
            if target[:1] == b"/":
                os.close(at)
                at = os.dup(root)
            rest += _parts(target)
        found, at = at, -1
        return found
    finally:
        os.close(root)
        if at >= 0:
            os.close(at)


def _parts(path: bytes) -> list[bytes]:
    """The last part first."""
    return [part for part in reversed(path.split(b"/")) if part not in (b"", b".")]


def _target(pid: int, name: bytes, link: int) -> bytes | None:
    """Where a link leads; None for one that jumps to a file without a path (in /proc)."""
    if not syscalls.is_proc(link):
        return os.readlink(b"", dir_fd=link)
    if name in (b"self", b"thread-self"):
        leader, thread = _numbers(pid, os.fstat(link).st_dev == _proc)
        return leader if name == b"self" else leader + b"/task/" + thread
    if name in _JUMPS or name.isdigit() or b"-" in name:
        return None
    return os.readlink(b"", dir_fd=link)


def _numbers(pid: int, ours: bool) -> tuple[bytes, bytes]:
    """The caller's process and thread in the name space of a /proc: ours, or its own."""
    with open(f"/proc/{pid}/status", "rb") as file:
        lines = dict(line.split(b":", 1) for line in file.read().splitlines() if b":" in line)
    which = 0 if ours else -1
    return lines[b"NStgid"].split()[which], lines[b"NSpid"].split()[which]
