"""Asking git about a repository without letting the repository run anything.

A repository's configuration can name programs that git starts on its own: a file system monitor, hooks, a
pager, external diffs, text converters, filters, credential helpers. Our calls switch them off.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from bridle.base.origin import BUNDLED, Origin
from bridle.runtime.spawn import Command, Completed

if TYPE_CHECKING:
    from bridle.llm.cancel import Cancel
    from bridle.runtime.spawn import Spawner

ORIGIN = Origin(BUNDLED, "bundled", None, "git")
TIMEOUT = 10.0
_OFF = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.pager": "cat",
    "core.editor": "true",
    "core.askPass": "",
    "core.sshCommand": "false",
    "credential.helper": "",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "protocol.allow": "never",
    "safe.bareRepository": "explicit",
    "submodule.recurse": "false",
}
_RUNS_PROGRAMS = re.compile(
    r"core\.(?:fsmonitor|hookspath|pager|editor|askpass|sshcommand|gitproxy|alternaterefscommand)"
    r"|pager\..*|alias\..*|sequence\.editor|diff\.external|diff\..*\.(?:command|textconv)"
    r"|filter\..*\.(?:clean|smudge|process)|merge\..*\.driver|(?:diff|merge)tool\..*"
    r"|credential(?:\..*)?\.helper|gpg(?:\..*)?\.program|interactive\.difffilter"
    r"|uploadpack\..*hook|remote\..*\.(?:uploadpack|receivepack|vcs|proxy)|protocol\.ext\.allow"
)
_WITH_DIFFS = frozenset(("diff", "log", "show", "format-patch", "whatchanged", "blame"))


def safe_env(env: Mapping[str, str], filters: tuple[str, ...] = ()) -> dict[str, str]:
    """An environment in which git starts nothing that a repository names, apart from external diffs and text
    converters, which only the command line switches off. For the shell's own git commands too."""
    clean = {name: value for name, value in env.items() if not name.startswith("GIT_")}
    settings = dict(_OFF)
    for name in filters:
        settings |= {f"filter.{name}.clean": "cat", f"filter.{name}.smudge": "cat"}
        settings |= {f"filter.{name}.process": "", f"filter.{name}.required": "false"}
    clean["GIT_CONFIG_COUNT"] = str(len(settings))
    for index, (key, value) in enumerate(settings.items()):
        clean[f"GIT_CONFIG_KEY_{index}"] = key
        clean[f"GIT_CONFIG_VALUE_{index}"] = value
    clean |= {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1"}
    return clean | {"GIT_PAGER": "cat", "LC_ALL": "C"}


def run_git(
    arguments: tuple[str, ...],
    *,
    cwd: str,
    env: Mapping[str, str],
    spawner: Spawner,
    cancel: Cancel,
    timeout: float = TIMEOUT,
) -> Completed:
    """Run a git command of ours. It must be one that only looks."""
    filters = _filters(_config(cwd, env, spawner, cancel)) if arguments[0] in ("status", "diff") else ()
    if arguments[0] in _WITH_DIFFS:
        arguments = (arguments[0], "--no-ext-diff", "--no-textconv", *arguments[1:])
    return _git(arguments, cwd, safe_env(env, filters), spawner, cancel, timeout)


def executable_config(
    *, cwd: str, env: Mapping[str, str], spawner: Spawner, cancel: Cancel
) -> tuple[str, ...]:
    """The keys of the repository's own configuration that make git start a program. Where there are any,
    a git command of the model is not harmless, whatever it looks like."""
    config = _config(cwd, env, spawner, cancel)
    return tuple(sorted({key for key in config if _RUNS_PROGRAMS.fullmatch(key)}))


def is_ignored(path: str, *, cwd: str, env: Mapping[str, str], spawner: Spawner, cancel: Cancel) -> bool:
    """True when git ignores the file and does not track it."""
    checked = ("check-ignore", "--quiet", "--", path)
    return _git(checked, cwd, safe_env(env), spawner, cancel, TIMEOUT).exit_code == 0


def _git(
    arguments: tuple[str, ...],
    cwd: str,
    env: Mapping[str, str],
    spawner: Spawner,
    cancel: Cancel,
    timeout: float,
) -> Completed:
    return spawner.run(
        Command(
            argv=("git", "--no-pager", *arguments),
            cwd=cwd,
            origin=ORIGIN,
            purpose=f"git {arguments[0]}",
            env=env,
            timeout=timeout,
        ),
        cancel,
    )


def _config(cwd: str, env: Mapping[str, str], spawner: Spawner, cancel: Cancel) -> list[str]:
    """The names of the keys that the repository itself sets, in lower case but for their middle part."""
    listed = ("config", "--list", "--null", "--show-scope", "--name-only")
    done = _git(listed, cwd, safe_env(env), spawner, cancel, TIMEOUT)
    fields = done.stdout.decode("utf-8", "replace").split("\0")
    return [key for scope, key in zip(fields[::2], fields[1::2]) if scope in ("local", "worktree")]


def _filters(config: list[str]) -> tuple[str, ...]:
    names = (key.split(".", 1)[1].rpartition(".")[0] for key in config if key.startswith("filter."))
    return tuple(sorted({name for name in names if name}))
