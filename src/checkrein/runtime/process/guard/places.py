"""Where a path of a caller leads: a directory that is open, and a name in it.

The walk follows each part as the kernel does for the caller: with its root, its mounts, its "self" in /proc.
What it finds stays the same file, whatever happens to the path afterwards.
"""

from __future__ import annotations

import errno
import os
import stat

from checkrein.runtime.process.guard import descent, syscalls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

CURRENT_DIRECTORY = -100
_MOST_LINKS = 40
_PATH = os.O_PATH | os.O_CLOEXEC


class Place:
    """`parent` is a directory (a descriptor for its path only), `name` is in it; `target` is what has that
    name, or -1. An empty name means the directory itself. `slash`: the path ends in a slash."""

    def __init__(self, parent: int, name: bytes, target: int, slash: bool) -> None:
        self.parent = parent
        self.name = name
        self.target = target
        self.slash = slash

    @property
    def file(self) -> int:
        """A descriptor of what is there, or -1."""
        return self.target if self.name else self.parent

    @property
    def path(self) -> str:
        """The real path, as the caller sees it."""
        if not self.name:
            return real_path(self.parent)
        return os.path.join(real_path(self.parent), os.fsdecode(self.name))

    def close(self) -> None:
        for descriptor in (self.parent, self.target):
            if descriptor >= 0:
                os.close(descriptor)
        self.parent = self.target = -1

    def __enter__(self) -> Place:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def real_path(descriptor: int) -> str:
    return os.readlink(f"/proc/self/fd/{descriptor}")


def find(pid: int, descriptor: int, path: bytes, *, follow: bool) -> Place:
    """The place that a path means for a caller; `follow` says whether a link at its end is followed. Raises
    OSError with the error that the caller would get."""
    if not path:
        raise OSError(errno.ENOENT, os.strerror(errno.ENOENT))
    walk = _Walk(pid, descriptor, path)
    try:
        return walk.go(follow)
    finally:
        walk.close()


def base(pid: int, descriptor: int) -> str:
    """Where the paths of a caller start."""
    return f"/proc/{pid}/cwd" if descriptor == CURRENT_DIRECTORY else f"/proc/{pid}/fd/{descriptor}"


class _Walk:
    def __init__(self, pid: int, descriptor: int, path: bytes) -> None:
        self._pid = pid
        self._root = os.open(f"/proc/{pid}/root", _PATH)
        self._at = -1
        self._links = 0
        try:
            start = f"/proc/{pid}/root" if path[:1] == b"/" else base(pid, descriptor)
            self._at = os.open(start, _PATH)
        except FileNotFoundError:
            os.close(self._root)
            raise OSError(errno.EBADF, os.strerror(errno.EBADF)) from None
        self._rest = _parts(path)
        self._slash = path[-1:] == b"/"

    def go(self, follow: bool) -> Place:
        while self._rest:
            part = self._rest.pop()
            last = not self._rest
            if part == b"..":
                self._up()
                continue
            try:
                found = os.open(part, _PATH | os.O_NOFOLLOW, dir_fd=self._at)
            except FileNotFoundError:
                if last:
                    return self._place(part, -1)
                raise
            if not stat.S_ISLNK(os.fstat(found).st_mode):
                if last:
                    return self._place(part, found)
                self._move(found)
            elif last and not (follow or self._slash):
                return self._place(part, found)
            else:
                self._follow(part, found)
        return self._place(b"", -1)

    def _place(self, name: bytes, target: int) -> Place:
        at, self._at = self._at, -1
        return Place(at, name, target, self._slash)

    def _up(self) -> None:
        if not os.path.sameopenfile(self._at, self._root):
            self._move(os.open(b"..", _PATH, dir_fd=self._at))

    def _move(self, to: int) -> None:
        os.close(self._at)
        self._at = to

    def _follow(self, part: bytes, link: int) -> None:
        self._links += 1
        try:
            if self._links > _MOST_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            target = self._target(part, link)
        finally:
            os.close(link)
        if target is None:
            self._move(os.open(part, _PATH, dir_fd=self._at))
            return
        if target[:1] == b"/":
            self._move(os.open(f"/proc/{self._pid}/root", _PATH))
        self._rest += _parts(target)

    def _target(self, name: bytes, link: int) -> bytes | None:
        """Where a link leads; None for one in /proc that leads to a file without a path."""
        if not syscalls.is_proc(link):
            return os.readlink(b"", dir_fd=link)
        if os.fstat(self._at).st_ino != _PROC_ROOT:
            self._judge_jump(os.fstat(link).st_dev)
            return None
        if name not in (b"self", b"thread-self"):
            return os.readlink(b"", dir_fd=link)
        leader, thread = numbers(self._pid, os.fstat(link).st_dev)
        return leader if name == b"self" else leader + b"/task/" + thread

    def _judge_jump(self, device: int) -> None:
        """The warden may look into more processes than the caller may: into the command's own, no others."""
        owner = real_path(self._at).split("/")[2:3]
        if owner and os.fsencode(owner[0]) in numbers(self._pid, device):
            return
        ours = owner and owner[0].isdigit() and os.stat("/proc").st_dev == device
        if not ours or int(owner[0]) not in descent.below((os.getpid(),)):
            raise OSError(errno.EACCES, os.strerror(errno.EACCES))

    def close(self) -> None:
        os.close(self._root)
        if self._at >= 0:
            os.close(self._at)


_PROC_ROOT = 1


def numbers(pid: int, device: int) -> tuple[bytes, bytes]:
    """The caller's process and thread in the name space of a /proc: ours, or its own."""
    with open(f"/proc/{pid}/status", "rb") as file:
        lines = dict(line.split(b":", 1) for line in file.read().splitlines() if b":" in line)
    which = 0 if os.stat("/proc").st_dev == device else -1
    return lines[b"NStgid"].split()[which], lines[b"NSpid"].split()[which]


def _parts(path: bytes) -> list[bytes]:
    """The last part first."""
    return [part for part in reversed(path.split(b"/")) if part not in (b"", b".")]
