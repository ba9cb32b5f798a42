"""System calls that Python has no function for. For the warden and its children: they hold the interpreter
lock, because nothing else runs there."""

from __future__ import annotations

import ctypes
import os
import signal
import struct

LIBRARY = ctypes.PyDLL(None, use_errno=True)

PDEATHSIG, DUMPABLE, NO_NEW_PRIVILEGES, SUBREAPER = 1, 4, 38, 36
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_CLONE = {"x86_64": 56, "aarch64": 220}
_CLONE_FILES = 0x400
_LANDLOCK_CREATE, _LANDLOCK_RESTRICT = 444, 446
_FILTER_MODE, _NEW_LISTENER, _WAIT_KILLABLE = 1, 1 << 3, 1 << 5
_SCOPE_ABSTRACT_SOCKETS = 1
_CAPABILITIES_3 = 0x20080522
_PROC = 0x9FA0

SEIZE, DETACH, INTERRUPT, EVENT_MESSAGE = 0x4206, 17, 0x4207, 0x4201
TRACE_EXEC, EXIT_KILL = 1 << 4, 1 << 20


def check(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def call(number: int, *arguments: int | bytes | None) -> int:
    wide = (ctypes.c_long(value) if isinstance(value, int) else value for value in arguments)
    return int(LIBRARY.syscall(ctypes.c_long(number), *wide))


def prctl(option: int, value: int) -> None:
    check(LIBRARY.prctl(option, ctypes.c_ulong(value), 0, 0, 0), f"prctl {option}")


def clone_sharing_files() -> int:
    """Like fork, but parent and child share the table of descriptors until the child calls `own_files`."""
    number = _CLONE[os.uname().machine]
    return check(call(number, int(signal.SIGCHLD) | _CLONE_FILES, 0, 0, 0, 0), "clone")


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
    return int(LIBRARY.ptrace(ctypes.c_long(request), pid, None, ctypes.c_void_p(data))) >= 0


def former_thread(pid: int) -> int:
    """The thread that called exec, at the stop that follows: it has its process's number by then."""
    message = ctypes.c_ulong()
    LIBRARY.ptrace(ctypes.c_long(EVENT_MESSAGE), pid, None, ctypes.byref(message))
    return message.value


def is_proc(descriptor: int) -> bool:
    """The file lies in a proc file system."""
    about = ctypes.create_string_buffer(256)
    check(LIBRARY.fstatfs(descriptor, about), "fstatfs")
    return int(struct.unpack_from("@l", about)[0]) == _PROC


def child_signals() -> int:
    """A descriptor that is readable when a child or a traced process changed. Blocks SIGCHLD."""
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGCHLD,))
    mask = struct.pack("=Q", 1 << (int(signal.SIGCHLD) - 1)) + bytes(120)
    return check(LIBRARY.signalfd(-1, mask, os.O_NONBLOCK | os.O_CLOEXEC), "signalfd")
