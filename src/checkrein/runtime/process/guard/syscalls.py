"""System calls that Python has no function for. For the warden and its children: they hold the interpreter
lock, because nothing else runs there.

Signals are numbers here, and the warden does without `socket`, `re` and `contextlib`: they import `enum` and
`collections`, which would take a quarter of the time until it is ready, and a command waits for it."""

from __future__ import annotations

import _socket
import ctypes
import os
import struct

LIBRARY = ctypes.PyDLL(None, use_errno=True)

SIGKILL, SIGPIPE, SIGTERM, SIGCHLD, SIGXFSZ = 9, 13, 15, 17, 25
_BLOCK, _SET_MASK = 0, 2
_MSG_NOSIGNAL = 0x4000
PDEATHSIG, DUMPABLE, NO_NEW_PRIVILEGES, SUBREAPER = 1, 4, 38, 36
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_CLONE = {"x86_64": 56, "aarch64": 220}
_CLONE_FILES, _CLONE_PARENT = 0x400, 0x8000
_LANDLOCK_CREATE, _LANDLOCK_RESTRICT = 444, 446
_FILTER_MODE, _NEW_LISTENER, _WAIT_KILLABLE = 1, 1 << 3, 1 << 5
_SCOPE_ABSTRACT_SOCKETS = 1
_CAPABILITIES_3 = 0x20080522
_PROC = 0x9FA0
_CONTROL = struct.Struct("@Nii")
_MESSAGE = struct.Struct("@PIPNPNi4x")

SEIZE, DETACH, INTERRUPT, EVENT_MESSAGE = 0x4206, 17, 0x4207, 0x4201
TRACE_EXEC, EXIT_KILL = 1 << 4, 1 << 20

_HERE = -100
_ROOT = 0x1100
"""The fields of statx that make a place unique: the number of the file, and the mount."""
_PLACE = struct.Struct("=I28xQ96x2IQ")
_ptrace = LIBRARY.ptrace
_ptrace.argtypes = (ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
_ptrace.restype = ctypes.c_long
_about = ctypes.create_string_buffer(256)
_statx = getattr(LIBRARY, "statx", lambda *_: -1)


def check(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def call(number: int, *arguments: int | bytes | None) -> int:
    wide = (ctypes.c_long(value) if isinstance(value, int) else value for value in arguments)
    return int(LIBRARY.syscall(ctypes.c_long(number), *wide))


class _Ignored:
    """Errors of the system are no matter here."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> bool:
        return kind is not None and issubclass(kind, OSError)


ignored = _Ignored()


def usual_signals() -> None:
    """Undo what Python and the warden change: signals that the one ignores, and that the other blocks."""
    for number in (SIGPIPE, SIGXFSZ):
        LIBRARY.signal(number, None)
    LIBRARY.pthread_sigmask(_SET_MASK, bytes(128), None)


def prctl(option: int, value: int) -> None:
    check(LIBRARY.prctl(option, ctypes.c_ulong(value), 0, 0, 0), f"prctl {option}")


def clone_sharing_files(*, for_parent: bool = False) -> int:
    """Like fork, but parent and child share the table of descriptors until the child calls `own_files`. With
    `for_parent` it is a child of our parent."""
    number = _CLONE[os.uname().machine]
    flags = SIGCHLD | _CLONE_FILES | (_CLONE_PARENT if for_parent else 0)
    return check(call(number, flags, 0, 0, 0, 0), "clone")


def own_files() -> None:
    check(LIBRARY.unshare(_CLONE_FILES), "unshare")


def close_from(first: int) -> None:
    check(LIBRARY.close_range(ctypes.c_uint(first), ctypes.c_uint(0xFFFF_FFFF), 0), "close_range")


def filter_calls(program: bytes, *, listen: bool = False) -> int:
    """Install a filter for this thread and what it starts. With `listen`, returns the descriptor that
    gets the notifications."""
    flags = _NEW_LISTENER if listen else 0
    buffer = ctypes.create_string_buffer(program, len(program))
    code = struct.pack("@HP", len(program) // 8, ctypes.addressof(buffer))
    number = _SECCOMP[os.uname().machine]
    result = call(number, _FILTER_MODE, flags | (_WAIT_KILLABLE if listen else 0), code)
    if result < 0 and listen and ctypes.get_errno() == 22:
        result = call(number, _FILTER_MODE, flags, code)
    return check(result, "seccomp")


def send_at_once(to: int, data: bytes, rights: bytes, flags: int) -> bool:
    """Send a packet with descriptors, and keep the interpreter's lock: the receiver wakes up on this core,
    and a thread that computes would take the lock meanwhile and keep it for milliseconds. False when it
    would have to wait, or failed: then nothing was sent."""
    size = _CONTROL.size + len(rights)
    control = ctypes.create_string_buffer(
        _CONTROL.pack(size, _socket.SOL_SOCKET, _socket.SCM_RIGHTS) + rights
    )
    room = ctypes.create_string_buffer(data, len(data))
    vector = struct.pack("@PN", ctypes.addressof(room), len(data))
    where = ctypes.create_string_buffer(vector, len(vector))
    message = _MESSAGE.pack(0, 0, ctypes.addressof(where), 1, ctypes.addressof(control), size, 0)
    flags |= _socket.MSG_DONTWAIT | _MSG_NOSIGNAL
    return int(LIBRARY.sendmsg(to, message, flags)) >= 0


def landlock_version() -> int:
    return call(_LANDLOCK_CREATE, None, 0, 1)


def fence() -> int:
    """A Landlock ruleset that takes away one thing that hardly a program needs (abstract sockets of others).
    A process under any ruleset can't trace or look into one that is not. Needs version 6."""
    attributes = struct.pack("=3Q", 0, 0, _SCOPE_ABSTRACT_SOCKETS)
    return check(call(_LANDLOCK_CREATE, attributes, len(attributes), 0), "landlock_create_ruleset")


def restrict(ruleset: int) -> None:
    check(call(_LANDLOCK_RESTRICT, ruleset, 0), "landlock_restrict_self")


def keep_capabilities(mask: int) -> None:
    """Give up the capabilities outside of `mask`. Without new privileges the loss is final."""
    header = struct.pack("=Ii", _CAPABILITIES_3, 0)
    held = ctypes.create_string_buffer(24)
    check(LIBRARY.capget(header, held), "capget")
    effective, permitted, *_ = struct.unpack("=6I", held.raw)
    kept = struct.pack("=6I", effective & mask, permitted & mask, 0, 0, 0, 0)
    check(LIBRARY.capset(header, kept), "capset")


def ptrace(request: int, pid: int, data: int = 0) -> bool:
    """False when the kernel refuses."""
    return int(_ptrace(request, pid, None, data)) >= 0


def former_thread(pid: int) -> int:
    """The thread that called exec, at the stop that follows: it has its process's number by then."""
    message = ctypes.c_ulong()
    _ptrace(EVENT_MESSAGE, pid, None, ctypes.byref(message))
    return message.value


def root_of(process: bytes) -> tuple[int, ...] | None:
    """What tells the root directory of a process from every other one: its number, device and mount. None
    where the kernel can't say (before 5.8) or the process is gone."""
    if _statx(_HERE, b"/proc/%b/root" % process, 0, _ROOT, _about) < 0:
        return None
    mask, *place = _PLACE.unpack_from(_about)
    return tuple(place) if mask & _ROOT == _ROOT else None


def is_proc(descriptor: int) -> bool:
    """The file lies in a proc file system."""
    about = ctypes.create_string_buffer(256)
    check(LIBRARY.fstatfs(descriptor, about), "fstatfs")
    return int(struct.unpack_from("@l", about)[0]) == _PROC


def child_signals() -> int:
    """A descriptor that is readable when a child or a traced process changed. Blocks SIGCHLD."""
    mask = struct.pack("=Q", 1 << (SIGCHLD - 1)) + bytes(120)
    LIBRARY.pthread_sigmask(_BLOCK, mask, None)
    return check(LIBRARY.signalfd(-1, mask, os.O_NONBLOCK | os.O_CLOEXEC), "signalfd")
