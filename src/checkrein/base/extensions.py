"""Python code that installed packages add, found by their entry points.

Only an installed distribution can add something: its `entry_points.txt` is in a directory of the
interpreter's packages, or in one that the user put on the path. A directory below the working directory,
below the project around it or below another project never counts, whatever `sys.path` holds: opening a
project never loads its code.
The search starts when a command needs it and keeps nothing on disk: a file that says which code to load
would need protection too.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Literal, get_args

from msgspec import Struct

Group = Literal["checks", "tools", "dialects"]
GROUPS: tuple[Group, ...] = get_args(Group)
_PREFIX = "checkrein."
_MARK = b"[checkrein."
_PROJECT_MARKS = (".git", ".claude", ".claude-plugin", "checkrein.toml")
_ENTRY = r"(?P<module>[\w.]+)(?::(?P<attribute>[\w.]+))?\s*(?:\[.*\])?"


class Extension(Struct, frozen=True, kw_only=True):
    """One entry point. `value` is what it names, as `module:attribute`; `file` declares it."""

    group: Group
    name: str
    value: str
    distribution: str
    version: str
    file: str


class Loaded(Struct, frozen=True):
    """A loaded extension: its `value`, or the `problem` in words."""

    extension: Extension
    value: Any = None
    problem: str | None = None


class Switches(Struct, frozen=True):
    """The user's own configuration of extensions. A project can't change it."""

    enabled: bool = True
    disabled: tuple[str, ...] = ()

    def refusal(self, extension: Extension) -> str | None:
        """Why it is not loaded, or None."""
        if not self.enabled:
            return "`extensions.enabled` is false"
        if _plain(extension.distribution) in map(_plain, self.disabled):
            return "`extensions.disabled` names it"
        return None


def installed(*projects: str) -> tuple[Extension, ...]:
    """Every entry point for Checkrein, not loaded. Nothing below the directories `projects` counts."""
    return _scan(tuple(directories(*projects)))


def load_all(group: Group, *projects: str, env: Mapping[str, str] | None = None) -> tuple[Loaded, ...]:
    """Load the extensions of a group that are switched on. Their exceptions become the `problem`."""
    found = [one for one in installed(*projects) if one.group == group]
    if not found:
        return ()
    switched = switches(env)
    return tuple(load(one) for one in found if switched.refusal(one) is None)


def load(extension: Extension) -> Loaded:
    from importlib import import_module

    entry = re.fullmatch(_ENTRY, extension.value)
    if entry is None:
        return Loaded(extension, None, f"`{extension.value}` is not of the form module:attribute")
    try:
        value: Any = import_module(entry["module"])
        for name in (entry["attribute"] or "").split("."):
            value = getattr(value, name) if name else value
    except (Exception, SystemExit) as error:
        return Loaded(extension, None, f"{type(error).__name__}: {error}")
    return Loaded(extension, value)


def switches(env: Mapping[str, str] | None = None) -> Switches:
    """Read only the user's `config.toml` and the environment."""
    from checkrein.base.config import load_config
    from checkrein.base.extension_keys import KEYS
    from checkrein.base.home import checkrein_home

    home = checkrein_home(env)
    config = load_config(KEYS, home / "no project", home, env)
    return Switches(config.get("extensions.enabled"), tuple(config.get("extensions.disabled")))


def directories(*projects: str) -> Iterator[str]:
    """The directories whose distributions count, in the order of `sys.path`.

    The working directory and `projects` may be anywhere in a project: all of it is left out.
    """
    import site

    own = {os.path.realpath(path) for path in site.getsitepackages()}
    if site.ENABLE_USER_SITE:
        own.add(os.path.realpath(site.getusersitepackages()))
    closed = [_outermost(os.path.realpath(path)) for path in (os.getcwd(), *projects)]
    for entry in dict.fromkeys(sys.path):
        real = os.path.realpath(entry) if entry else ""
        if real and (real in own or not any(_is_inside(real, path) for path in closed)):
            yield real


def _outermost(path: str) -> str:
    """The outermost project that holds the path, else the path. The user's home is not a project."""
    found, home = path, os.path.realpath(os.path.expanduser("~"))
    directory, above = path, os.path.dirname(path)
    while directory not in (above, home):
        if any(os.path.lexists(os.path.join(directory, mark)) for mark in _PROJECT_MARKS):
            found = directory
        directory, above = above, os.path.dirname(above)
    return found


def _is_inside(path: str, directory: str) -> bool:
    return path == directory or path.startswith(directory.rstrip(os.sep) + os.sep)


@cache
def _scan(places: tuple[str, ...]) -> tuple[Extension, ...]:
    found: dict[str, tuple[Extension, ...]] = {}
    for place in places:
        try:
            with os.scandir(place) as entries:
                folders = sorted(e.path for e in entries if e.name.endswith((".dist-info", ".egg-info")))
        except OSError:
            continue
        for folder in folders:
            declared = tuple(_declared(folder))
            if declared:
                found.setdefault(_plain(declared[0].distribution), declared)
    return tuple(one for declared in found.values() for one in declared)


def _declared(folder: str) -> Iterator[Extension]:
    file = os.path.join(folder, "entry_points.txt")
    try:
        with open(file, "rb") as held:
            content = held.read()
    except OSError:
        return
    if _MARK not in content:
        return
    import configparser

    parser = configparser.ConfigParser(delimiters=("=",), interpolation=None, strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    try:
        parser.read_string(content.decode("utf-8", "replace"))
    except configparser.Error:
        return
    name, version = _identity(folder)
    for group in GROUPS:
        if parser.has_section(_PREFIX + group):
            for entry, value in parser.items(_PREFIX + group):
                yield Extension(
                    group=group, name=entry, value=value, distribution=name, version=version, file=file
                )


def _identity(folder: str) -> tuple[str, str]:
    """Name and version of a distribution: from its metadata, else from the folder's name."""
    values: dict[str, str] = {}
    for file in ("METADATA", "PKG-INFO"):
        try:
            with open(os.path.join(folder, file), encoding="utf-8", errors="replace") as lines:
                for line in lines:
                    if not line.strip():
                        break
                    key, _, value = line.partition(":")
                    values.setdefault(key, value.strip())
        except OSError:
            continue
    stem = os.path.basename(folder).rpartition(".")[0]
    name, _, version = stem.partition("-")
    return values.get("Name", name), values.get("Version", version)


def _plain(distribution: str) -> str:
    return re.sub(r"[-_.]+", "-", distribution).lower()
