"""bubblewrap: the command sees the file system through a mount namespace of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator

from checkrein.runtime.process.sandbox import seccomp
from checkrein.runtime.process.sandbox.detection import Prepared, SandboxStatus
from checkrein.runtime.process.sandbox.policy import SandboxPolicy

_BASE = ("--unshare-ipc", "--ro-bind", "/", "/", "--dev", "/dev")
_OPEN = ("--bind", "/", "/", "--dev-bind", "/dev", "/dev")
_PROCESSES = ("--unshare-pid", "--proc", "/proc")
_KEPT_BY_ROOT = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID")
"""What root may still do to files and its own processes. The others could undo the sandbox."""
_ENFORCED = (
    "files are written only in the project, the added directories and the temporary directory",
    "denied files and directories can't be read",
    "the network is off unless a setting opens it",
)
_SOCKETS = "sockets to other programs of this machine are off unless a setting opens them"
_RESOLVER = "/run/systemd/resolve"


def detect() -> tuple[SandboxStatus | None, str]:
    """The status if bubblewrap works, else why it does not."""
    import shutil

    from checkrein.runtime.process.probes import probe

    program = shutil.which("bwrap")
    if program is None:
        return None, "bubblewrap (`bwrap`) is not installed"
    sockets = (_SOCKETS,) if seccomp.is_known_machine() else ()
    if probe((program, *_BASE, *_PROCESSES, "--unshare-net", "--", "true")) is not None:
        own = "other processes are not visible"
        enforced = (*_ENFORCED, *sockets, own)
        return SandboxStatus(kind="bubblewrap", enforced=enforced, program=program, processes=True), ""
    if probe((program, *_BASE, "--unshare-net", "--", "true")) is not None:
        return SandboxStatus(
            kind="bubblewrap",
            enforced=(*_ENFORCED, *sockets),
            missing=(
                "other processes of the same user are visible (the container forbids a /proc of its own)",
            ),
            program=program,
        ), ""
    return None, "bubblewrap is installed, but this container or kernel does not let it work"


def wrap(argv: tuple[str, ...], cwd: str, policy: SandboxPolicy, status: SandboxStatus) -> Prepared:
    assert status.program is not None
    arguments = [status.program, *(_BASE if policy.write is not None else _OPEN), "--cap-drop", "ALL"]
    if os.geteuid() == 0:
        arguments += [word for name in _KEPT_BY_ROOT for word in ("--cap-add", f"CAP_{name}")]
    if status.processes:
        arguments += _PROCESSES
    if not policy.network:
        arguments.append("--unshare-net")
    arguments += _mounts(policy)
    arguments += ["--chdir", cwd]
    filtered = seccomp.program(
        network=policy.network, unix_sockets=policy.unix_sockets, changes=not policy.only_reads
    )
    descriptors: tuple[int, ...] = ()
    if filtered is not None:
        descriptors = (_readable(filtered),)
        arguments += ["--seccomp", str(descriptors[0])]
    return Prepared(argv=(*arguments, "--", *argv), pass_fds=descriptors)


def _mounts(policy: SandboxPolicy) -> Iterator[str]:
    if not policy.unix_sockets and os.path.isdir("/run"):
        yield from ("--tmpfs", "/run")
        if policy.network and os.path.isdir(_RESOLVER):
            yield from ("--ro-bind", _RESOLVER, _RESOLVER)
    for path in policy.write or ():
        if os.path.exists(path):
            yield from ("--bind", path, path)
    for path in policy.deny_write:
        if not os.path.exists(path):
            continue
        # A command could rename a directory above it and make a new one; not so with a mount point.
        for above in _between(path, ("/",) if policy.write is None else policy.write):
            yield from ("--bind", above, above)
        yield from ("--ro-bind", path, path)
    for path in policy.deny_read:
        if os.path.isdir(path):
            yield from ("--tmpfs", path, "--remount-ro", path)
        elif os.path.exists(path):
            yield from ("--ro-bind", "/dev/null", path)


def _between(path: str, roots: tuple[str, ...]) -> list[str]:
    """The directories above a path that lie below a writable one, the outermost first."""
    found: list[str] = []
    above = os.path.dirname(path)
    while above != "/" and any(above.startswith(root.rstrip("/") + "/") for root in roots):
        found.insert(0, above)
        above = os.path.dirname(above)
    return found


def _readable(data: bytes) -> int:
    """A descriptor that gives the data. A filter is far smaller than a pipe's buffer."""
    reading, writing = os.pipe()
    os.write(writing, data)
    os.close(writing)
    return reading
