"""Calls that write files, done by the warden in the caller's place.

The warden finds the directory and the name, judges the real path, and does the call itself on what it found:
nothing that the caller changes afterwards matters. Since it does one call at a time, the processes of one
command can't race against each other either. Changes of modes, owners and attributes, new sockets, and opens
in /proc, /sys and of terminals are judged and then left to the kernel: a second thread could swap the path
there.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import struct
import time

from checkrein.runtime.process.guard import syscalls
from checkrein.runtime.process.guard.file_rules import FileRules, Reason
from checkrein.runtime.process.guard.performer import Performer, as_caller
from checkrein.runtime.process.guard.places import CURRENT_DIRECTORY, Place, find, real_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from checkrein.runtime.process.guard.notification import Notification

_HARMLESS = ((1, 3), (1, 5), (1, 7), (1, 8), (1, 9))
_TMPFILE = os.O_TMPFILE
_NO_FOLLOW, _REMOVE_DIRECTORY, _FOLLOW, _EMPTY_PATH = 0x100, 0x200, 0x400, 0x1000
_EXCHANGE = 2
_KERNELS = ("/proc/", "/sys/")
_OPEN_HOW = struct.Struct("=3Q")
_RETRIES = 10
_UNIX, _LONGEST_ADDRESS = b"\1\0", 128


class RefusedError(Exception):
    """The call is refused by a rule."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.path)
        self.reason = reason


class Writing:
    """Answers the notified file calls of one command."""

    def __init__(self, rules: FileRules) -> None:
        self._rules = rules
        self._calls: dict[str, Callable[[Performer], None]] = {
            "open": lambda do: self._open(do, CURRENT_DIRECTORY, do.text(0), do.args[1], do.args[2]),
            "creat": lambda do: self._open(
                do, CURRENT_DIRECTORY, do.text(0), os.O_CREAT | os.O_WRONLY | os.O_TRUNC, do.args[1]
            ),
            "openat": lambda do: self._open(do, do.descriptor(0), do.text(1), do.args[2], do.args[3]),
            "openat2": self._openat2,
            "truncate": self._truncate,
            "rename": lambda do: self._rename(do, _here(do, 0), _here(do, 1), 0),
            "renameat": lambda do: self._rename(do, _at(do, 0), _at(do, 2), 0),
            "renameat2": lambda do: self._rename(do, _at(do, 0), _at(do, 2), do.args[4]),
            "unlink": lambda do: self._remove(do, _here(do, 0), os.unlink),
            "rmdir": lambda do: self._remove(do, _here(do, 0), os.rmdir),
            "unlinkat": lambda do: self._remove(
                do, _at(do, 0), os.rmdir if do.args[2] & _REMOVE_DIRECTORY else os.unlink
            ),
            "link": lambda do: self._link(do, _here(do, 0), _here(do, 1), 0),
            "linkat": lambda do: self._link(do, _at(do, 0), _at(do, 2), do.args[4]),
            "symlink": lambda do: self._symlink(do, do.text(0), _here(do, 1)),
            "symlinkat": lambda do: self._symlink(do, do.text(0), _at(do, 1)),
            "mkdir": lambda do: self._mkdir(do, _here(do, 0), do.args[1]),
            "mkdirat": lambda do: self._mkdir(do, _at(do, 0), do.args[2]),
            "mknod": lambda do: self._mknod(do, _here(do, 0), do.args[1]),
            "mknodat": lambda do: self._mknod(do, _at(do, 0), do.args[2]),
            "bind": self._bind,
            **{
                name: (lambda do: self._attribute(do, _here(do, 0), follow=True))
                for name in ("chmod", "chown", "setxattr", "removexattr")
            },
            **{
                name: (lambda do: self._attribute(do, _here(do, 0), follow=False))
                for name in ("lchown", "lsetxattr", "lremovexattr")
            },
            **dict.fromkeys(("fchmod", "fchown", "fsetxattr", "fremovexattr"), self._attribute_of_open),
            "fchmodat": lambda do: self._attribute(do, _at(do, 0), follow=True),
            "fchmodat2": lambda do: self._attribute_at(do, do.args[3]),
            "fchownat": lambda do: self._attribute_at(do, do.args[4]),
        }

    def answer(self, call: str, notification: Notification) -> Reason | None:
        """Do the call and answer. Where a rule is against it, return that instead."""
        try:
            with Performer(notification) as do, as_caller(do.pid):
                self._calls[call](do)
        except RefusedError as refused:
            return refused.reason
        except OSError as error:
            notification.refuse(error.errno or errno.EIO)
        return None

    def _judge(self, reason: Reason | None) -> None:
        if reason is not None:
            raise RefusedError(reason)

    # Opening.

    def _openat2(self, do: Performer) -> None:
        if do.args[3] < _OPEN_HOW.size:
            raise _error(errno.EINVAL)
        flags, mode, resolve = _OPEN_HOW.unpack(do.data(2, _OPEN_HOW.size))
        writes = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | (_TMPFILE & ~os.O_DIRECTORY))
        if resolve and not (writes and not flags & os.O_PATH):
            do.inject(do.open_resolved(1, flags, mode, resolve), flags)
            return
        if resolve:
            self._open_beneath(do, flags, mode, resolve)
            return
        self._open(do, do.descriptor(0), do.text(1), flags, mode)

    def _open_beneath(self, do: Performer, flags: int, mode: int, resolve: int) -> None:
        """The kernel keeps the walk inside of a directory. A new file is made only after its judgement."""
        quiet = flags & (os.O_NOFOLLOW | os.O_DIRECTORY) | os.O_PATH
        try:
            target = do.open_resolved(1, quiet, 0, resolve)
        except FileNotFoundError:
            if not flags & os.O_CREAT:
                raise
            target = -1
        if target >= 0:
            with Place(target, b"", -1, slash=False) as place:
                self._open_place(do, place, flags, mode)
            return
        above, _, name = do.text(1).rpartition(b"/")
        parent = do.open_resolved(1, os.O_PATH | os.O_DIRECTORY, 0, resolve, path=above or b".")
        with Place(parent, name, -1, slash=False) as place:
            self._open_place(do, place, flags | os.O_EXCL, mode)

    def _open(self, do: Performer, descriptor: int, path: bytes, flags: int, mode: int) -> None:
        flags &= 0xFFFF_FFFF
        if flags & os.O_PATH:
            do.proceed()
            return
        new = flags & os.O_CREAT and flags & os.O_EXCL
        for _ in range(_RETRIES):
            with find(do.pid, descriptor, path, follow=not (new or flags & os.O_NOFOLLOW)) as place:
                try:
                    self._open_place(do, place, flags, mode)
                    return
                except FileExistsError:
                    if new:
                        raise
        raise _error(errno.EAGAIN)

    def _open_place(self, do: Performer, place: Place, flags: int, mode: int) -> None:
        if place.file < 0:
            self._create(do, place, flags, mode)
            return
        if flags & os.O_CREAT and flags & os.O_EXCL:
            raise _error(errno.EEXIST)
        about = os.fstat(place.file)
        kind = stat.S_IFMT(about.st_mode)
        path = real_path(place.file)
        if kind == stat.S_IFDIR and flags & _TMPFILE == _TMPFILE:
            self._judge(self._rules.against(f"{path}/#"))
            do.inject(os.open(f"/proc/self/fd/{place.file}", flags | os.O_CLOEXEC, mode & 0o7777), flags)
            return
        if kind == stat.S_IFLNK:
            raise _error(errno.ELOOP)
        if kind == stat.S_IFDIR:
            raise _error(errno.EISDIR)
        if place.slash or flags & os.O_DIRECTORY:
            raise _error(errno.ENOTDIR)
        if kind == stat.S_IFSOCK:
            raise _error(errno.ENXIO)
        if kind in (stat.S_IFCHR, stat.S_IFBLK):
            self._open_device(do, place.file, about.st_rdev, flags)
            return
        if path.startswith(_KERNELS) or syscalls.is_proc(place.file):
            do.proceed()
            return
        self._judge(self._rules.against_file(path, about))
        plain = flags & ~(os.O_CREAT | os.O_EXCL | os.O_TRUNC | os.O_NOFOLLOW) | os.O_CLOEXEC | os.O_NOCTTY
        if kind == stat.S_IFIFO:
            do.apart(lambda: _open_pipe(do, place.file, plain), flags)
            return
        opened = os.open(f"/proc/self/fd/{place.file}", plain)
        if flags & os.O_TRUNC:
            try:
                os.truncate(f"/proc/self/fd/{opened}", 0)
            except OSError:
                os.close(opened)
                raise
        do.inject(opened, flags)

    def _open_device(self, do: Performer, file: int, device: int, flags: int) -> None:
        if (os.major(device), os.minor(device)) not in _HARMLESS:
            do.proceed()
            return
        opened = os.open(f"/proc/self/fd/{file}", flags & os.O_ACCMODE | os.O_CLOEXEC)
        do.inject(opened, flags)

    def _create(self, do: Performer, place: Place, flags: int, mode: int) -> None:
        if not flags & os.O_CREAT:
            raise _error(errno.ENOENT)
        if place.slash:
            raise _error(errno.EISDIR)
        self._judge(self._rules.against(place.path))
        made = flags & ~os.O_TRUNC | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        opened = os.open(place.name, made, mode & 0o7777, dir_fd=place.parent)
        do.inject(opened, flags)

    def _truncate(self, do: Performer) -> None:
        with find(do.pid, CURRENT_DIRECTORY, do.text(0), follow=True) as place:
            if place.file < 0:
                raise _error(errno.ENOENT)
            self._judge(self._rules.against_file(real_path(place.file), os.fstat(place.file)))
            os.truncate(f"/proc/self/fd/{place.file}", do.args[1])
        do.done()

    # Names.

    def _rename(self, do: Performer, old: tuple[int, bytes], new: tuple[int, bytes], flags: int) -> None:
        with find(do.pid, *old, follow=False) as source, find(do.pid, *new, follow=False) as goal:
            for place in (source, goal):
                if not place.name:
                    raise _error(errno.EBUSY)
            if source.target < 0:
                raise _error(errno.ENOENT)
            self._judge_move(source, goal)
            if flags & _EXCHANGE and goal.target >= 0:
                self._judge_move(goal, source)
            self._judge_slash(source, goal)
            do.rename(source, goal, flags)
        do.done()

    def _judge_move(self, source: Place, goal: Place) -> None:
        about, old, new = os.fstat(source.target), source.path, goal.path
        self._judge_name(old, new, about)
        if stat.S_ISDIR(about.st_mode) and old != new:
            opened = os.open(f"/proc/self/fd/{source.target}", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                self._judge(self._rules.against_move(opened, old, new))
            finally:
                os.close(opened)

    def _judge_name(self, old: str, new: str, about: os.stat_result) -> None:
        self._judge(self._rules.against_rename(old, new) or self._rules.against_other_name(old, about))
        if stat.S_ISLNK(about.st_mode):
            self._judge(self._rules.against_link(new))

    def _judge_slash(self, source: Place, goal: Place) -> None:
        if (source.slash or goal.slash) and not stat.S_ISDIR(os.fstat(source.target).st_mode):
            raise _error(errno.ENOTDIR)

    def _remove(self, do: Performer, what: tuple[int, bytes], remove: Callable[..., None]) -> None:
        with find(do.pid, *what, follow=False) as place:
            if not place.name:
                raise _error(errno.EINVAL if remove is os.rmdir else errno.EISDIR)
            if place.target < 0:
                raise _error(errno.ENOENT)
            if place.slash and remove is os.unlink:
                raise _error(errno.ENOTDIR)
            self._judge(self._rules.against(place.path))
            remove(place.name, dir_fd=place.parent)
        do.done()

    def _link(self, do: Performer, what: tuple[int, bytes], to: tuple[int, bytes], flags: int) -> None:
        if flags & _EMPTY_PATH and not what[1]:
            source = Place(os.open(f"/proc/{do.pid}/fd/{what[0]}", os.O_PATH | os.O_CLOEXEC), b"", -1, False)
        else:
            source = find(do.pid, *what, follow=bool(flags & _FOLLOW))
        with source, find(do.pid, *to, follow=False) as goal:
            if source.file < 0:
                raise _error(errno.ENOENT)
            if not goal.name or goal.slash:
                raise _error(errno.EEXIST if not goal.name else errno.ENOENT)
            about, new = os.fstat(source.file), goal.path
            old = real_path(source.file) if about.st_nlink else new
            self._judge_name(old, new, about)
            do.link(source, goal)
        do.done()

    def _symlink(self, do: Performer, target: bytes, new: tuple[int, bytes]) -> None:
        self._make(do, new, lambda place: os.symlink(target, place.name, dir_fd=place.parent), link=True)

    def _mkdir(self, do: Performer, new: tuple[int, bytes], mode: int) -> None:
        self._make(
            do, new, lambda place: os.mkdir(place.name, mode & 0o7777, dir_fd=place.parent), directory=True
        )

    def _mknod(self, do: Performer, new: tuple[int, bytes], mode: int) -> None:
        if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFIFO, stat.S_IFSOCK):
            raise _error(errno.EPERM)
        kind = stat.S_IFMT(mode) or stat.S_IFREG
        self._make(do, new, lambda place: os.mknod(place.name, kind | mode & 0o7777, dir_fd=place.parent))

    def _make(
        self,
        do: Performer,
        new: tuple[int, bytes],
        make: Callable[[Place], None],
        *,
        link: bool = False,
        directory: bool = False,
    ) -> None:
        with find(do.pid, *new, follow=False) as place:
            if place.file >= 0:
                raise _error(errno.EEXIST)
            if place.slash and not directory:
                raise _error(errno.ENOENT)
            self._judge(self._rules.against_link(place.path) if link else self._rules.against(place.path))
            make(place)
        do.done()

    # Sockets, modes, owners and attributes: judged here, done by the kernel.

    def _bind(self, do: Performer) -> None:
        address = do.data(1, min(do.args[2], _LONGEST_ADDRESS))
        path = address[2:].split(b"\0", 1)[0]
        if address[:2] == _UNIX and path:
            with find(do.pid, CURRENT_DIRECTORY, path, follow=False) as place:
                self._judge(self._rules.against(place.path))
        do.proceed()

    def _attribute(self, do: Performer, what: tuple[int, bytes], *, follow: bool) -> None:
        with find(do.pid, *what, follow=follow) as place:
            if place.file < 0:
                raise _error(errno.ENOENT)
            self._judge_attribute(place.file)
        do.proceed()

    def _attribute_at(self, do: Performer, flags: int) -> None:
        if flags & _EMPTY_PATH and not do.text(1):
            self._attribute_of_open(do)
            return
        self._attribute(do, _at(do, 0), follow=not flags & _NO_FOLLOW)

    def _attribute_of_open(self, do: Performer) -> None:
        with contextlib.suppress(FileNotFoundError):
            file = os.open(f"/proc/{do.pid}/fd/{do.descriptor(0)}", os.O_PATH | os.O_CLOEXEC)
            try:
                self._judge_attribute(file)
            finally:
                os.close(file)
        do.proceed()

    def _judge_attribute(self, file: int) -> None:
        about = os.fstat(file)
        if about.st_nlink and stat.S_IFMT(about.st_mode) in (stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK):
            path = real_path(file)
            if path.startswith("/") and not path.startswith(_KERNELS):
                self._judge(self._rules.against_file(path, about))


def _open_pipe(do: Performer, file: int, flags: int) -> int:
    """A named pipe opens when somebody reads it; wait as long as the caller does."""
    while True:
        try:
            opened = os.open(f"/proc/self/fd/{file}", flags | os.O_NONBLOCK)
        except OSError as error:
            if error.errno != errno.ENXIO or flags & os.O_NONBLOCK or not do.is_valid:
                raise
            time.sleep(0.005)
            continue
        os.set_blocking(opened, not flags & os.O_NONBLOCK)
        return opened


def _here(do: Performer, argument: int) -> tuple[int, bytes]:
    return CURRENT_DIRECTORY, do.text(argument)


def _at(do: Performer, argument: int) -> tuple[int, bytes]:
    return do.descriptor(argument), do.text(argument + 1)


def _error(number: int) -> OSError:
    return OSError(number, os.strerror(number))
