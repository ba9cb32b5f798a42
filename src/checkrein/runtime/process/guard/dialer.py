"""Connections, made by the warden in the caller's place: to the session's proxy, and nowhere else.

The warden copies the address, takes the caller's socket and connects it itself, so nothing that the caller
changes afterwards matters. Where programs are judged, sockets of daemons that start programs for others are
refused too, unless the daemon is one of the command's own.
"""

from __future__ import annotations

import errno
import os
import re
import socket
import struct

from checkrein.runtime.process.guard import descent, syscalls
from checkrein.runtime.process.guard.performer import Performer, as_caller
from checkrein.runtime.process.guard.places import CURRENT_DIRECTORY, find, real_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from checkrein.runtime.process.guard.notification import Notification

NUMBERS: dict[str, dict[str, int]] = {
    "x86_64": {"socket": 41, "connect": 42, "sendto": 44, "sendmsg": 46, "sendmmsg": 307},
    "aarch64": {"socket": 198, "connect": 203, "sendto": 206, "sendmsg": 211, "sendmmsg": 269},
}
FAST_OPEN = {"sendto": 3, "sendmsg": 2, "sendmmsg": 3}
"""Calls that may connect on their own, and which of their arguments has the flag for it."""
FAST_OPEN_FLAG = 0x2000_0000
_LONGEST = 128
_SO_DOMAIN = 39
_DAEMONS = re.compile(
    r"/(tmux-\d+|screens?|S-[^/]+|emacs\d*|watchman|wezterm|libvirt|lxd|incus|buildkit|containerd|podman|crio)/"
    r"|/(docker|containerd|podman|crio|snapd|buildkitd)\.sock(et)?$"
    r"|^/run/systemd/(private|io\.system)|^/run/user/\d+/(systemd/|bus$)|/dbus/system_bus_socket$"
)


_SERVERS = re.compile(
    r"(tmux|screen|SCREEN|emacs|nvim|kitty|wezterm|watchman|systemd|dbus|dockerd|docker-proxy|containerd|podman|"
    r"crio|snapd|buildkitd|libvirtd|lxd|incusd|atd|cron|supervisord|pm2)\b"
)
"""The same daemons by the names of their processes: their sockets may be anywhere."""


class Refused:
    """`target` can't be reached; `key` is the rule's number, or -1."""

    __slots__ = ("key", "target")

    def __init__(self, target: str, key: int) -> None:
        self.target = target
        self.key = key


class Dialing:
    """`proxy` is the one address that may be reached, or None when all may. With `loopback`, this machine may
    be reached too, apart from the ports in `closed`. `daemons`: refuse the sockets of daemons."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._proxy: tuple[str, int] | None = given["proxy"]
        self._loopback = bool(given["loopback"])
        self._closed = frozenset(given["closed"])
        self._daemons = bool(given["daemons"])
        self._key = int(given["key"])

    def answer(self, notification: Notification) -> Refused | None:
        """Connect and answer. Where that is refused, return why instead."""
        try:
            with Performer(notification) as do:
                return self._connect(do, notification)
        except OSError as error:
            notification.refuse(error.errno or errno.EIO)
        return None

    def _connect(self, do: Performer, notification: Notification) -> Refused | None:
        size = do.args[2] & 0xFFFF_FFFF
        if not 2 <= size <= _LONGEST:
            notification.refuse(errno.EINVAL)
            return None
        address = do.data(1, size)
        taken = _take(do.pid, do.descriptor(0))
        try:
            with socket.socket(fileno=os.dup(taken)) as ours:
                domain = ours.getsockopt(socket.SOL_SOCKET, _SO_DOMAIN)
            if domain == socket.AF_UNIX:
                return self._dial_unix(do, notification, taken, address)
            if domain not in (socket.AF_INET, socket.AF_INET6) or self._proxy is None:
                do.proceed()
                return None
            target = _target(address)
            if target is not None and not self._is_open(*target):
                return Refused(f"{target[0]}:{target[1]}", self._key)
            _finish(notification, _dial(taken, address))
        finally:
            os.close(taken)
        return None

    def _is_open(self, host: str, port: int) -> bool:
        if (host, port) == self._proxy:
            return True
        import ipaddress

        found = ipaddress.ip_address(host)
        here = found.is_loopback or found.is_unspecified
        return self._loopback and here and port not in self._closed

    def _dial_unix(
        self, do: Performer, notification: Notification, taken: int, address: bytes
    ) -> Refused | None:
        path = address[2:].split(b"\0", 1)[0]
        if not self._daemons or not path:
            do.proceed()
            return None
        with as_caller(do.pid), find(do.pid, CURRENT_DIRECTORY, path, follow=True) as place:
            if place.file < 0:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
            real = real_path(place.file)
            short = f"/proc/self/fd/{place.file}"
            if _DAEMONS.search(real) and not _is_own(short):
                return Refused(real, -1)
            with as_caller(do.pid):
                failed = _dial(taken, struct.pack("=H", socket.AF_UNIX) + short.encode() + b"\0")
            if not failed and _starts_programs(taken):
                return Refused(real, -1)
            _finish(notification, failed)
        return None


def _take(pid: int, descriptor: int) -> int:
    """A copy of the caller's socket."""
    with open(f"/proc/{pid}/status", "rb") as file:
        leader = int(re.search(rb"^Tgid:\s*(\d+)", file.read(), re.MULTILINE)[1])  # type: ignore[index]
    process = os.pidfd_open(leader)
    try:
        return syscalls.check(syscalls.call(438, process, descriptor, 0), "pidfd_getfd")
    finally:
        os.close(process)


def _target(address: bytes) -> tuple[str, int] | None:
    """Host and port; None when the address ends a connection. Raises OSError for one that is cut."""
    family = struct.unpack_from("=H", address)[0]
    if family == socket.AF_UNSPEC:
        return None
    if family == socket.AF_INET and len(address) >= 8:
        return socket.inet_ntop(socket.AF_INET, address[4:8]), struct.unpack_from("!H", address, 2)[0]
    if family == socket.AF_INET6 and len(address) >= 24:
        host = address[8:24]
        port = struct.unpack_from("!H", address, 2)[0]
        if host[:12] == bytes(10) + b"\xff\xff":
            return socket.inet_ntop(socket.AF_INET, host[12:]), port
        return socket.inet_ntop(socket.AF_INET6, host), port
    raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))


def _dial(descriptor: int, address: bytes) -> int:
    """0, or the error of the call."""
    try:
        syscalls.check(syscalls.LIBRARY.connect(descriptor, address, len(address)), "connect")
    except OSError as error:
        return error.errno or errno.EIO
    return 0


def _finish(notification: Notification, failed: int) -> None:
    if failed:
        notification.refuse(failed)
    else:
        notification.succeed()


def _starts_programs(connection: int) -> bool:
    """Whether a daemon that starts programs for others is at the other end. Then it is cut."""
    with socket.socket(fileno=os.dup(connection)) as ours:
        try:
            peer = struct.unpack("=3i", ours.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
            with open(f"/proc/{peer}/comm") as file:
                if not _SERVERS.match(file.read()) or peer in descent.below((os.getpid(),)):
                    return False
            ours.shutdown(socket.SHUT_RDWR)
        except OSError:
            return False
    return True


def _is_own(path: str) -> bool:
    """Whether the daemon behind a socket is below the warden: then its programs are judged too."""
    for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
        with socket.socket(socket.AF_UNIX, kind) as probe:
            try:
                probe.setblocking(False)
                probe.connect(path)
                peer = probe.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
            except OSError:
                continue
            return struct.unpack("=3i", peer)[0] in descent.below((os.getpid(),))
    return False
