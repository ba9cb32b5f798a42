"""Asks git about a repository without letting the repository run anything.

A repository's configuration can name programs that git starts on its own: a file system monitor, hooks, a
pager, external diffs, text converters, filters, signature checks, credential helpers. Our calls switch them
off, and so do the git commands of the model that need no approval.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from checkrein.base.origin import BUNDLED, Origin
from checkrein.runtime.process.spawner import Command, Completed

if TYPE_CHECKING:
    from checkrein.llm.cancel import Cancel
    from checkrein.runtime.process.spawner import Spawner

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
    "log.showSignature": "false",
    "gpg.program": "false",
    "gpg.openpgp.program": "false",
    "gpg.x509.program": "false",
    "gpg.ssh.program": "false",
    "gpg.ssh.defaultKeyCommand": "",
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
_PLAIN_DIFF = 'f() { diff -u "$2" "$5"; :; }; f'
"""In place of a diff program, which git calls with: path, old file, id, mode, new file, id, mode."""
_SUBMODULES = 20
_WITH_DIFFS = frozenset(("diff", "log", "show", "format-patch", "whatchanged", "blame"))


def safe_env(env: Mapping[str, str], filters: tuple[str, ...] = ()) -> dict[str, str]:
    """An environment in which git starts nothing that a repository names, apart from external diffs and text
    converters, which only the command line switches off. For the shell's own git commands too."""
    clean = {name: value for name, value in env.items() if not name.startswith("GIT_")}
    settings = dict(_OFF)
    for name in filters:
        settings |= _without_filter(name)
    return _configured(clean, settings) | {"LC_ALL": "C"}


def quiet_env(env: Mapping[str, str], cwd: str, spawner: Spawner, cancel: Cancel) -> dict[str, str]:
    """The user's environment for a git command of the model that needs no approval: git does not
    start what the repository (or a submodule) names. Plain diffs and text replace external ones."""
    settings = dict(_OFF)
    config = _config(cwd, env, spawner, cancel)
    for path in _submodules(cwd, env, spawner, cancel):
        config += _config(os.path.join(cwd, path), env, spawner, cancel)
    for name in _filters(config):
        settings |= _without_filter(name)
    for key in config:
        if key == "diff.external" or re.fullmatch(r"diff\..*\.command", key):
            settings[key] = _PLAIN_DIFF
        elif re.fullmatch(r"diff\..*\.textconv", key):
            settings[key] = "cat"
    pinned = {"GIT_WORK_TREE": _top(cwd)} if "core.worktree" in config else {}
    return _configured(env, settings) | pinned


def replacements(env: Mapping[str, str]) -> tuple[str, ...]:
    """The programs that git starts in such an environment instead of those that the repository names."""
    values = {value for name, value in env.items() if name.startswith("GIT_CONFIG_VALUE_")}
    plain = ("sh", "diff") if _PLAIN_DIFF in values else ()
    return plain + (("cat",) if "cat" in values else ())


def _top(cwd: str) -> str:
    """The directory that holds the repository. Its configuration may name any other as the working tree."""
    here = os.path.realpath(cwd)
    while not os.path.lexists(os.path.join(here, ".git")) and here != "/":
        here = os.path.dirname(here)
    return here


def _without_filter(name: str) -> dict[str, str]:
    return {
        f"filter.{name}.clean": "cat",
        f"filter.{name}.smudge": "cat",
        f"filter.{name}.process": "",
        f"filter.{name}.required": "false",
    }


def _configured(env: Mapping[str, str], settings: Mapping[str, str]) -> dict[str, str]:
    """The environment with settings that override every file, after those it already has."""
    made = dict(env)
    count = made.get("GIT_CONFIG_COUNT", "")
    first = int(count) if count.isdecimal() else 0
    for index, (key, value) in enumerate(settings.items(), first):
        made[f"GIT_CONFIG_KEY_{index}"] = key
        made[f"GIT_CONFIG_VALUE_{index}"] = value
    made["GIT_CONFIG_COUNT"] = str(first + len(settings))
    made |= {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1"}
    return made | {"GIT_PAGER": "cat"}


def run_git(
    arguments: tuple[str, ...],
    *,
    cwd: str,
    env: Mapping[str, str],
    spawner: Spawner,
    cancel: Cancel,
    timeout: float = TIMEOUT,
) -> Completed:
    """Run a git command of our own. It must only read."""
    filters = _filters(_config(cwd, env, spawner, cancel)) if arguments[0] in ("status", "diff") else ()
    if arguments[0] in _WITH_DIFFS:
        arguments = (arguments[0], "--no-ext-diff", "--no-textconv", *arguments[1:])
    return _git(arguments, cwd, safe_env(env, filters), spawner, cancel, timeout)


def change_git(
    arguments: tuple[str, ...],
    *,
    cwd: str,
    env: Mapping[str, str],
    spawner: Spawner,
    cancel: Cancel,
    timeout: float,
) -> Completed:
    """Run a git command of our own that changes the repository or its files. Its hooks and filters never run:
    no rule would bind them. Filters of the user's own configuration do."""
    off = _filters(_config(cwd, env, spawner, cancel))
    return _git(arguments, cwd, safe_env(env, off), spawner, cancel, timeout)


def executable_config(
    *, cwd: str, env: Mapping[str, str], spawner: Spawner, cancel: Cancel
) -> tuple[str, ...]:
    """The keys of the repository's own configuration that make git start a program. With any of them,
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
    """The names of the keys that the repository itself sets, in lower case except for their middle part."""
    listed = ("config", "--list", "--null", "--show-scope", "--name-only")
    done = _git(listed, cwd, safe_env(env), spawner, cancel, TIMEOUT)
    fields = done.stdout.decode("utf-8", "replace").split("\0")
    return [key for scope, key in zip(fields[::2], fields[1::2]) if scope in ("local", "worktree")]


def _filters(config: list[str]) -> tuple[str, ...]:
    names = (key.split(".", 1)[1].rpartition(".")[0] for key in config if key.startswith("filter."))
    return tuple(sorted({name for name in names if name}))


def _submodules(cwd: str, env: Mapping[str, str], spawner: Spawner, cancel: Cancel) -> list[str]:
    """The paths of submodules, from the directory of the command. Most commands have none to check."""
    if not os.path.isfile(os.path.join(cwd, ".gitmodules")):
        return []
    listed = ("config", "--file", ".gitmodules", "--null", "--get-regexp", r"^submodule\..*\.path$")
    done = _git(listed, cwd, safe_env(env), spawner, cancel, TIMEOUT)
    entries = done.stdout.decode("utf-8", "surrogateescape").split("\0")
    paths = [entry.partition("\n")[2] for entry in entries if "\n" in entry]
    return [path for path in paths if os.path.lexists(os.path.join(cwd, path, ".git"))][:_SUBMODULES]
