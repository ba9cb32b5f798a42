"""Find ripgrep, and run it in an open directory that nobody can replace with another one."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import cache

from checkrein.base.origin import BUNDLED, Origin
from checkrein.runtime.process.spawner import Command, Completed
from checkrein.runtime.tools import files
from checkrein.runtime.tools.port import ToolContext, ToolFailure

_ORIGIN = Origin(BUNDLED, "bundled", None, "tools.search")
TIMEOUT = 20.0
_MEMORY = 16 << 20
_VERSION_CONTROL = (".git", ".svn", ".hg", ".bzr", ".jj", ".sl")
_OWN = "/proc/self/fd"


@cache
def rg_path() -> str | None:
    """The ripgrep of this environment, else the system's."""
    beside = os.path.join(os.path.dirname(sys.executable), "rg")
    if os.access(beside, os.X_OK):
        return beside
    import shutil

    return shutil.which("rg")


def run_rg(
    arguments: tuple[str, ...], descriptor: int, real: str, context: ToolContext, *, single: bool = False
) -> Completed:
    """Run rg in the open directory, or on the one open file. Raises ToolFailure when it can't search."""
    program = rg_path()
    if program is None:
        raise ToolFailure(
            "Search needs ripgrep (rg), which is not installed. Run `checkrein doctor` for details."
        )
    env = {name: value for name, value in context.env.items() if name != "RIPGREP_CONFIG_PATH"}
    opened = f"{_OWN}/{descriptor}" if os.path.isdir(_OWN) else real
    done = context.spawner.run(
        Command(
            argv=(program, "--no-config", "--color=never", *arguments, *((opened,) if single else ())),
            cwd="/" if single else opened,
            origin=_ORIGIN,
            purpose="search",
            env=env,
            timeout=TIMEOUT,
            limit=_MEMORY,
            pass_fds=(descriptor,),
        ),
        context.cancel,
    )
    if done.cancelled:
        raise ToolFailure("The search was interrupted.")
    if done.timed_out:
        raise ToolFailure(f"The search took longer than {TIMEOUT:g} s. Search in a smaller place.")
    message = done.stderr.decode("utf-8", "replace").strip()
    if done.exit_code > 1 and message and not done.stdout:
        raise ToolFailure(f"rg failed: {message}")
    return done


def without_version_control(pattern: str) -> tuple[str, ...]:
    """Arguments that exclude the files of version control, unless the pattern names them."""
    return tuple(f"--glob=!**/{name}/**" for name in _VERSION_CONTROL if name not in pattern)


def place(path: str | None, context: ToolContext, *, named: str | None = None) -> tuple[str, str]:
    """The canonical place to search and the name for its files: relative to the working directory when they
    are in it. `named` is the place together with the pattern, which the gate may have approved."""
    if named is not None and files.canonical(named, context) in context.approved_paths:
        real = files.canonical(path or ".", context)
    else:
        real = files.approved_place(path or ".", context)
    if not os.path.lexists(real):
        raise ToolFailure(f"{path} does not exist.")
    return real, shown(real, context)


def shown(real: str, context: ToolContext) -> str:
    cwd = os.path.realpath(context.cwd)
    if real == cwd:
        return ""
    return real[len(cwd) + 1 :] if real.startswith(cwd.rstrip("/") + "/") else real


def visible(real: str, context: ToolContext) -> Callable[[str], bool]:
    """Whether the model may see a result (relative to the searched place)."""
    if context.may_read is None:
        return lambda name: True
    judge = context.may_read
    known: dict[str, bool] = {}

    def may(name: str) -> bool:
        if name not in known:
            known[name] = judge(os.path.join(real, name) if name else real)
        return known[name]

    return may


def newest_first(names: list[str], descriptor: int) -> list[str]:
    """Sorted by time of change, the newest first; equal times by name."""

    def age(name: str) -> tuple[float, str]:
        try:
            return -os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_mtime_ns, name
        except OSError:
            return 0.0, name

    return sorted(names, key=age)
