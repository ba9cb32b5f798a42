"""Landlock and seccomp: a thread gives up rights, and the command that it starts inherits what is left.

Landlock knows only what is allowed. To deny a file, the rules allow all its neighbours instead of the
directory. So a command can't read back a file that it creates beside a denied one. Landlock can't make a part
of a writable directory read-only.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
from collections.abc import Iterator
from functools import cache

from checkrein.runtime.process.sandbox import seccomp
from checkrein.runtime.process.sandbox.bounds import Bounds
from checkrein.runtime.process.sandbox.detection import Prepared, SandboxStatus
from checkrein.runtime.process.sandbox.policy import SYSTEM_PLACES, SandboxPolicy

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_BENEATH = 1
_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER = 38, 22, 2
_WRITE_FILE, _READ_FILE = 1 << 1, 1 << 2
_REMOVE_AND_MAKE = sum(1 << bit for bit in range(4, 13))
_REFER, _TRUNCATE = 1 << 13, 1 << 14
_FILE_RIGHTS = _WRITE_FILE | _READ_FILE | _TRUNCATE
_TCP = 1 | 2
_SCOPES = 1 | 2
_CAPABILITIES_3 = 0x20080522
KEPT_BY_ROOT = 0b1111_1011
"""Capabilities about files and own processes. CAP_DAC_READ_SEARCH and all above CAP_SETUID go."""
KEPT_IN_THE_OPEN = KEPT_BY_ROOT | 1 << 10 | 1 << 13 | 1 << 14 | 1 << 23 | 1 << 24 | 1 << 29
"""Where only deny rules hold: low ports, raw sockets, locked memory, priorities, limits and the audit too."""
_HARMLESS = ("/dev/null", "/dev/zero", "/dev/full")
DEVICES = (*_HARMLESS, "/dev/tty", "/dev/ptmx", "/dev/pts", "/dev/shm")  # noqa: S108


def detect() -> SandboxStatus | None:
    version = _abi()
    if version < 1:
        return None
    missing = [
        "settings and hooks inside the project stay writable",
        "a command can't read a file that it made beside a denied file",
        "names (not contents) in denied directories are visible; modes and times can be changed",
    ]
    if version < 3:
        missing.append("files elsewhere can be cut to length zero (the kernel is older than 6.2)")
    if version < 6:
        missing.append("other processes can be signalled (the kernel is older than 6.12)")
    enforced = [
        "files are written only in the project, the added directories and the temporary directory",
        "denied files can't be read",
    ]
    if seccomp.is_known_machine():
        enforced.append("the network and sockets to other programs are off unless a setting opens them")
    else:
        missing.append("the network is open: this machine's system calls are not known")
    return SandboxStatus(
        kind="landlock",
        enforced=tuple(enforced),
        missing=tuple(missing),
        fix="Install bubblewrap (`bwrap`): it has none of these gaps.",
    )


def works() -> bool:
    return _abi() >= 1


def detect_reading() -> SandboxStatus | None:
    """Whether a command can be held to reading only. Before version 3 it could still empty files, and on an
    unknown machine it could open sockets."""
    if _abi() < 3 or not seccomp.is_known_machine():
        return None
    enforced = ("nothing is written but a private temporary directory", "the network and sockets are off")
    missing = () if _abi() >= 6 else ("other processes can be signalled (the kernel is older than 6.12)",)
    return SandboxStatus(kind="landlock", enforced=enforced, missing=missing)


@cache
def _abi() -> int:
    """The version of Landlock that the kernel speaks; 0 or less without it."""
    return int(_call(_CREATE, None, 0, 1))


def wrap(argv: tuple[str, ...], policy: SandboxPolicy) -> Prepared:
    filtered = seccomp.program(
        network=policy.network, unix_sockets=policy.unix_sockets, changes=not policy.only_reads
    )
    bounds = Bounds(ruleset=ruleset(policy), filter=filtered, capabilities=KEPT_BY_ROOT)
    return Prepared(argv=argv, bounds=bounds)


def apply(bounds: Bounds) -> None:
    """For a thread that starts one process and ends. Raises OSError when the kernel refuses."""
    _check(_library().prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0), "no_new_privs")
    if bounds.capabilities is not None:
        _keep_capabilities(bounds.capabilities)
    _check(_call(_RESTRICT, bounds.ruleset, 0), "landlock_restrict_self")
    if bounds.filter is not None:
        buffer = ctypes.create_string_buffer(bounds.filter, len(bounds.filter))
        code = struct.pack("@HP", len(bounds.filter) // 8, ctypes.addressof(buffer))
        holder = ctypes.create_string_buffer(code, len(code))
        place = ctypes.c_ulong(ctypes.addressof(holder))
        _check(_library().prctl(_SECCOMP, _FILTER, place, 0, 0), "seccomp")


def _keep_capabilities(mask: int) -> None:
    """Root could look into other processes and undo the sandbox. Without new privileges the loss is final."""
    header = struct.pack("=Ii", _CAPABILITIES_3, 0)
    held = ctypes.create_string_buffer(24)
    _check(_library().capget(header, held), "capget")
    effective, permitted, *_ = struct.unpack("=6I", held.raw)
    kept = struct.pack("=6I", effective & mask, permitted & mask, 0, 0, 0, 0)
    _check(_library().capset(header, kept), "capset")


def ruleset(policy: SandboxPolicy) -> int:
    """A descriptor of the rules for a policy. Close it."""
    version = _abi()
    write = _WRITE_FILE | _REMOVE_AND_MAKE
    if version >= 2:
        write |= _REFER
    if version >= 3:
        write |= _TRUNCATE
    bounded = policy.deny_read or policy.read is not None
    handled = (write if policy.write is not None else 0) | (_READ_FILE if bounded else 0)
    attributes = [handled]
    if version >= 4:
        attributes.append(0 if policy.network else _TCP)
    if version >= 6:
        attributes = [*attributes, _SCOPES]
    packed = struct.pack(f"={len(attributes)}Q", *attributes)
    made = int(_call(_CREATE, packed, len(packed), 0))
    _check(made, "landlock_create_ruleset")
    try:
        if policy.write is not None:
            for path in (*policy.write, *(_HARMLESS if policy.only_reads else DEVICES)):
                _allow(made, path, write)
        if bounded:
            roots = ("/",) if policy.read is None else (*policy.read, *(policy.write or ()), *SYSTEM_PLACES)
            for root in roots:
                for path in readable(root, policy.deny_read):
                    _allow(made, path, _READ_FILE)
    except BaseException:
        os.close(made)
        raise
    return made


def readable(directory: str, denied: tuple[str, ...]) -> Iterator[str]:
    """The paths that, with everything below them, cover all but the denied ones."""
    if any(f"{directory}/".startswith(f"{path}/") for path in denied):
        return
    above = tuple(path for path in denied if path.startswith(directory.rstrip("/") + "/"))
    if not above:
        yield directory
        return
    try:
        entries = list(os.scandir(directory))
    except OSError:
        return
    for entry in entries:
        if entry.path in above or entry.is_symlink():
            continue
        if any(path.startswith(entry.path + "/") for path in above):
            yield from readable(entry.path, above)
        else:
            yield entry.path


def _allow(ruleset: int, path: str, rights: int) -> None:
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            if not os.path.isdir(f"/proc/self/fd/{descriptor}"):
                rights &= _FILE_RIGHTS if _abi() >= 3 else _FILE_RIGHTS & ~_TRUNCATE
            rule = struct.pack("=Qi", rights, descriptor)
            _call(_ADD, ruleset, _BENEATH, rule, 0)
        finally:
            os.close(descriptor)


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _call(number: int, *arguments: int | bytes | None) -> int:
    wide = (ctypes.c_long(value) if isinstance(value, int) else value for value in arguments)
    result: int = _library().syscall(ctypes.c_long(number), *wide)
    return result


def _check(result: int, what: str) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
