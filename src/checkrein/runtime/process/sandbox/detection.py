"""What this machine can enforce, and how to prepare a command for it."""

from __future__ import annotations

import contextlib
import os
import sys
from functools import cache
from typing import Literal

from msgspec import Struct

from checkrein.base.errors import PolicyError
from checkrein.runtime.process.sandbox.bounds import Bounds
from checkrein.runtime.process.sandbox.policy import SandboxPolicy

Kind = Literal["bubblewrap", "landlock", "seatbelt", "none"]


class SandboxStatus(Struct, frozen=True, kw_only=True):
    """`enforced` and `missing` are short sentences; `fix` says how to get more."""

    kind: Kind
    enforced: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    fix: str | None = None
    program: str | None = None
    processes: bool = False
    """Commands see no other processes."""


class Prepared(Struct, frozen=True, kw_only=True):
    """How to start the command: `argv`, what stays open in it, and the bounds to apply first."""

    argv: tuple[str, ...]
    pass_fds: tuple[int, ...] = ()
    bounds: Bounds | None = None

    def close(self) -> None:
        """Call it after the attempt to start the process."""
        held = () if self.bounds is None or self.bounds.ruleset < 0 else (self.bounds.ruleset,)
        for descriptor in self.pass_fds + held:
            with contextlib.suppress(OSError):
                os.close(descriptor)


@cache
def detect() -> SandboxStatus:
    """The strongest sandbox that works, by test: containers often forbid what the kernel can do."""
    if not sys.platform.startswith("linux"):
        return _elsewhere()
    from checkrein.runtime.process.sandbox import bubblewrap, landlock

    found, why = bubblewrap.detect()
    if found is not None and found.processes:
        return found
    # Under bubblewrap without a /proc of its own a command can read our environment, under Landlock it can't.
    other = landlock.detect() or found
    if other is not None:
        return other
    return SandboxStatus(
        kind="none",
        missing=(why, "the kernel has no Landlock, or it is switched off"),
        fix="Install bubblewrap (`bwrap`), or use a kernel of 5.13 or later with Landlock.",
    )


@cache
def detect_reading() -> SandboxStatus:
    """What holds a command to reading only. Landlock goes first: it costs far less, and such a command has no
    writable tree in which Landlock would leave gaps."""
    if not sys.platform.startswith("linux"):
        return SandboxStatus(kind="none", missing=("Checkrein knows no sandbox for this system",))
    from checkrein.runtime.process.sandbox import landlock

    return landlock.detect_reading() or detect()


@cache
def can_hide() -> bool:
    """Whether a guarded command can have mounts of its own."""
    from checkrein.runtime.process.probes import probe

    own = ("-m",) if os.geteuid() == 0 else ("-U", "-m")
    return probe(("unshare", *own, "true")) is not None or probe(("unshare", "-U", "-m", "true")) is not None


def _elsewhere() -> SandboxStatus:
    if sys.platform == "darwin":
        from checkrein.runtime.process.sandbox import seatbelt

        missing = ("`sandbox-exec` does not work here",)
        return seatbelt.detect() or SandboxStatus(kind="none", missing=missing)
    if sys.platform == "win32":
        return SandboxStatus(
            kind="none",
            missing=("Windows itself has no sandbox that Checkrein knows",),
            fix="Run Checkrein in WSL 2, the Linux of Windows: there all layers hold.",
        )
    return SandboxStatus(kind="none", missing=("Checkrein knows no sandbox for this system",))


def wrap(
    argv: tuple[str, ...],
    cwd: str,
    policy: SandboxPolicy,
    status: SandboxStatus | None = None,
    *,
    guarded: bool = False,
) -> Prepared:
    """A command that the kernel confines to the policy. Raises PolicyError where nothing confines. `guarded`:
    the warden starts it, which can do more."""
    if guarded:
        from checkrein.runtime.process.sandbox import guarded as with_guard

        prepared = with_guard.wrap(argv, policy)
        if prepared is not None:
            return prepared
    status = status or (detect_reading() if policy.only_reads else detect())
    if status.kind == "bubblewrap":
        from checkrein.runtime.process.sandbox import bubblewrap

        return bubblewrap.wrap(argv, cwd, policy, status)
    if status.kind == "landlock":
        from checkrein.runtime.process.sandbox import landlock

        return landlock.wrap(argv, policy)
    if status.kind == "seatbelt":
        from checkrein.runtime.process.sandbox import seatbelt

        return seatbelt.wrap(argv, policy)
    raise PolicyError(
        "The command was not run: it must run in a sandbox, and there is none here.",
        kind="sandbox_unavailable",
        hint=status.fix,
    )
