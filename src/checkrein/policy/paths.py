"""Paths as strings: nothing here looks at a file system.

A path has several spellings: as written, with `..` removed, and with the links of the context followed. A
deny rule applies if it matches any of them, an allow rule if it matches all.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from itertools import pairwise

from checkrein.facts.shell_paths import (
    CRITICAL_PARENTS,
    HARMLESS_DEVICES,
    PROTECTED_DIRS,
    PROTECTED_FILES,
    PROTECTED_SUBDIRS,
    UNPROTECTED_SUBDIRS,
)
from checkrein.policy.abstract import ANY, ONE, STAR, is_static, may_match
from checkrein.policy.effects import Effect, Read, Write
from checkrein.policy.links import follow as follow
from checkrein.policy.links import through_globs
from checkrein.policy.values import Context

_PROC_NAME = tuple("proc")
_DESCRIPTOR = re.compile(r"/(?:proc/[^/]+/(?:task/[^/]+/)?|dev/)(?:fd|map_files)/(?:[^/]+/.|\.\.)")
"""A file below an open directory, or a way out of the table of open files."""
_PROC = re.compile(r"/proc/[^/]+/(?:task/[^/]+/)?(cwd|root)(?=/|$)")


def absolute(path: str, cwd: str, home: str) -> str:
    """`path` as an absolute path without `.` and `..`, links not followed."""
    return normal(join(path, cwd, home))


def join(path: str, cwd: str, home: str) -> str:
    if path == "~" or path.startswith("~/"):
        path = home + path[1:]
    return path if path.startswith(("/", ANY)) else f"{cwd}/{path}"


def normal(path: str) -> str:
    """Without `.`, `..` and doubled slashes. After an unknown part, `..` leads anywhere."""
    if path.startswith(ANY):
        return path
    if ANY in path and "/.." in path[path.index(ANY) :]:
        return f"{ANY}/{path.rpartition('/..')[2].lstrip('/')}"
    return posixpath.normpath("/" + path.lstrip("/"))


def spellings(path: str, context: Context) -> tuple[str, ...]:
    """Every name of the absolute `path`: normal, and with links followed as the kernel does."""
    names = dict.fromkeys((normal(path),))
    if _PROC.match(normal(path)):
        names |= dict.fromkeys((_proc(normal(path), context.cwd),))
    if context.links:
        names |= dict.fromkeys((follow(path, context.links),))
        if not is_static(path):
            names |= dict.fromkeys(through_globs(path, context.links))
    return tuple(names)


def may_be_process_path(path: str) -> bool:
    """Whether a path may lead through `/proc`, which has other names for any file."""
    if _DESCRIPTOR.match(path):
        return True
    first = path.split("/", 2)[1] if path.startswith("/") else ""
    return not is_static(path) and may_match(_PROC_NAME, first)


def _proc(path: str, cwd: str) -> str:
    """`/proc/self/cwd/x` and `/proc/self/root/x` are other names of x."""
    while found := _PROC.match(path):
        rest = path[found.end() :]
        path = (
            normal((cwd if found.group(1) == "cwd" else "") + rest)
            if rest or found.group(1) == "cwd"
            else "/"
        )
    return path


def working_dirs(context: Context, added: Iterable[str]) -> tuple[str, ...]:
    """The directories in which reading needs no approval, and the same with links followed."""
    found: dict[str, None] = {}
    for directory in (context.start, *context.add_dirs, *added):
        for name in spellings(absolute(directory, context.start, context.home), context):
            found[name] = None
    return tuple(found)


def inside(path: str, directories: Iterable[str]) -> bool:
    return any(path == one or one == "/" or path.startswith(one + "/") for one in directories)


def relative(path: str, base: str) -> str | None:
    """`path` below `base`; empty for the base itself, None for a path elsewhere."""
    base = normal(base)
    if base == "/":
        return path[1:]
    if path == base:
        return ""
    return path[len(base) + 1 :] if path.startswith(base + "/") else None


def is_device(path: str) -> bool:
    return path in HARMLESS_DEVICES


def is_protected(path: str) -> bool:
    """Whether no rule can approve a write to `path`. The comparison of names ignores case."""
    parts = path.lower().strip("/").split("/")
    if parts[-1] in PROTECTED_FILES:
        return True
    pairs = tuple(pairwise(parts))
    if any(pair in PROTECTED_SUBDIRS for pair in pairs):
        return True
    for at, part in enumerate(parts):
        if part in PROTECTED_DIRS and not (
            at + 1 < len(parts) and (part, parts[at + 1]) in UNPROTECTED_SUBDIRS
        ):
            return True
        if not is_static(part) and part != ANY and _glob_may_protect(part):
            return True
    return False


def _glob_may_protect(part: str) -> bool:
    """A glob without any letters does not count as one of these names."""
    if not part.strip(f"{STAR}{ONE}{ANY}"):
        return False
    return any(
        may_match(tuple(name), part)
        for name in _PROTECTED_NAMES
        if name[0] != "." or part[0] not in (STAR, ONE)
    )


_PROTECTED_NAMES = (*PROTECTED_DIRS, *PROTECTED_FILES)


def is_critical(path: str, context: Context, added: Iterable[str]) -> bool:
    """Whether removing `path` would remove the system, the home or the working directory."""
    path = path.rstrip("/") or "/"
    head, _, last = path.rpartition("/")
    if last and all(char in (STAR, ONE, ".") for char in last):
        # A glob right below a directory removes everything in it.
        parent = head or "/"
        dirs = working_dirs(context, added)
        return _is_critical_dir(parent, context) or any(inside(one, (parent,)) for one in dirs)
    return _is_critical_dir(path, context)


def _is_critical_dir(path: str, context: Context) -> bool:
    if path == "/" or (path.rpartition("/")[0] or "/") in CRITICAL_PARENTS:
        return True
    kept = (context.cwd, context.start, context.home)
    return any(one and inside(normal(one), (path,)) for one in kept)


def opened(effects: Iterable[Effect], context: Context) -> list[str]:
    """The canonical paths of the files that a call opens, by the links that its decision saw. A link that
    changed since then leads to a path that is not among them."""
    return [
        follow(join(effect.path, context.cwd, context.home), context.links)
        for effect in effects
        if isinstance(effect, Read | Write) and "\0" not in effect.path
    ]
