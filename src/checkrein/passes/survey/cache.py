"""Reports of earlier runs, in the Checkrein home: a run with nothing changed only looks at the tree.

An entry holds for one target and one choice of codes, as long as every file in the walked tree, in the user's
and the machine's directories, and every other file that an item names has the same time and size. A tree that
changed while it was read, or just before, is not kept, and nothing is where packages add checks, tools or
dialects: their code may change without a trace here.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256

import msgspec
from msgspec import Struct

from checkrein import __version__
from checkrein.base.files import beneath, read_own, write_atomic
from checkrein.base.home import checkrein_home, private_dir
from checkrein.dialects.claude.place import ancestors, state_file
from checkrein.dialects.claude.plugin_places import LOCK_FILE
from checkrein.facts import agent_skills, claude
from checkrein.model.project import Place, Project
from checkrein.passes.checks.scripts import script_of
from checkrein.passes.recipes.folders import recipe_folders
from checkrein.passes.survey.report import Choice, Report
from checkrein.passes.survey.survey import Target
from checkrein.passes.survey.units import files_of
from checkrein.passes.survey.walk import walk

_ENV = ("HOME", "PATH", "XDG_DATA_HOME")
_ENV_STARTS = ("CLAUDE_", "CHECKREIN_")
_USER_FOLDERS = ("skills", "agents", "commands", "rules")
_SETTLED_NS = 50_000_000
_MOST_ENTRIES = 200
State = tuple[str, int, int]


class Entry(Struct, frozen=True):
    state: str
    watched: tuple[State, ...]
    report: Report


class Cache:
    """The entry of one target. `started` is the time before the tree was walked."""

    def __init__(self, target: Target, choice: Choice) -> None:
        self.started = time.time_ns()
        self.target = target
        self.usable = bool(target.walked) and not target.named and not choice.extended
        self.folder = checkrein_home() / "cache" / "check"
        self.path = self.folder / f"{_key(target, choice)}.json"

    def load(self) -> Report | None:
        if not self.usable:
            return None
        found = read_own(self.path)
        if found is None:
            return None
        try:
            entry = msgspec.json.decode(found.data, type=Entry)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None
        if entry.state != self._state() or any(_state_of(one[0]) != one for one in entry.watched):
            return None
        return entry.report

    def store(self, report: Report, projects: Sequence[Project]) -> None:
        newest = max((found.newest for found in self.target.walked), default=0)
        if not self.usable or newest > self.started - _SETTLED_NS or _depends_on_variables(projects):
            return
        outside = sorted({file for file in _named(projects) if not self._is_walked(file)})
        entry = Entry(self._state(), tuple(_state_of(file) for file in outside), report)
        try:
            private_dir(self.folder)
            write_atomic(self.path, msgspec.json.encode(entry), mode=0o600)
            _trim(str(self.folder))
        except (OSError, TypeError):
            return

    def _is_walked(self, file: str) -> bool:
        return any(beneath(file, found.top) for found in self.target.walked)

    def _state(self) -> str:
        digest = sha256()
        for found in self.target.walked:
            digest.update(repr(found.state).encode("utf-8", "surrogatepass"))
        digest.update(repr(list(_around(self.target.place))).encode("utf-8", "surrogatepass"))
        return digest.hexdigest()


def _key(target: Target, choice: Choice) -> str:
    env = {name: value for name, value in os.environ.items() if name in _ENV or name.startswith(_ENV_STARTS)}
    tops = [found.top for found in target.walked]
    parts = (__version__, _program(), tops, target.place, target.files, choice, sorted(env.items()))
    return sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _program() -> int:
    """The newest time of the modules that decide: a changed installation has other findings."""
    from checkrein import dialects, facts, passes

    newest = 0
    for package in (passes, dialects, facts):
        for folder, _, names in os.walk(package.__path__[0]):
            if not folder.endswith("__pycache__"):
                newest = max(newest, *(os.stat(os.path.join(folder, name)).st_mtime_ns for name in names), 0)
    return newest


def _around(place: Place) -> Iterator[State]:
    """The files of the user, of the machine and of the directories above that every load looks at."""
    config = place.config_dir
    for directory in ancestors(place.root)[1:]:
        for name in (claude.MEMORY_FILE, claude.LOCAL_MEMORY_FILE, claude.CONFIG_DIR):
            yield _state_of(os.path.join(directory, name))
    for name in (claude.SETTINGS_FILE, claude.LOCAL_SETTINGS_FILE, claude.MEMORY_FILE):
        yield _state_of(os.path.join(config, name))
    yield _state_of(state_file(place))
    yield _state_of(os.path.join(config, "plugins", "installed_plugins.json"))
    yield _state_of(str(checkrein_home() / "config.toml"))
    yield _state_of(str(checkrein_home() / "plugins" / "installed.json"))
    yield _state_of(os.path.join(place.root, LOCK_FILE))
    folders = [os.path.join(config, folder) for folder in _USER_FOLDERS]
    folders.append(os.path.join(place.home, agent_skills.SKILLS_DIR))
    if place.managed_dir is not None:
        folders.append(place.managed_dir)
    folders += recipe_folders(place)
    for folder in folders:
        if os.path.isdir(folder):
            yield from walk(folder, None).state
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        yield _state_of(folder)


def _state_of(path: str) -> State:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return path, 0, 0
    return path, max(status.st_mtime_ns, status.st_ctime_ns), status.st_size


def _named(projects: Iterable[Project]) -> Iterator[str]:
    """Every file that an item is in, every script that a hook starts, and every import, also one that leads
    nowhere."""
    for project in projects:
        yield from files_of(project)
        for item in project.sources.instructions:
            for one in item.imports:
                path = os.path.join(os.path.dirname(item.name), os.path.expanduser(one.text))
                yield os.path.normpath(path)
        for hook in project.sources.hooks:
            script = script_of(hook, project)
            if script is not None:
                yield script.path


def _depends_on_variables(projects: Iterable[Project]) -> bool:
    keys = ("allowedMcpServers", "deniedMcpServers")
    return any(key in project.settings for project in projects for key in keys)


def _trim(folder: str) -> None:
    """Keep the newest entries."""
    with os.scandir(folder) as listed:
        entries = sorted(listed, key=lambda entry: entry.stat().st_mtime_ns, reverse=True)
    for entry in entries[_MOST_ENTRIES:]:
        os.unlink(entry.path)
