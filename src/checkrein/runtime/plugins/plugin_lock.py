"""The section `plugins` of `checkrein.lock`: the plugins of a project and its own skills, with what each can
do. Other sections stay as they are."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from checkrein.base.errors import FileError
from checkrein.base.files import locked, read_text, write_atomic
from checkrein.base.home import lock_of
from checkrein.base.jsonpos import JsonError, decode
from checkrein.base.origin import Origin
from checkrein.model.plugins import Capabilities, Pinned
from checkrein.model.project import Place
from checkrein.runtime.mcp.lockfile import FILE, VERSION, path


class LockedSkill(Struct, frozen=True, omit_defaults=True):
    hash: str
    capabilities: Capabilities = Capabilities()


class PluginLock(Struct, frozen=True):
    """`installed` by identity; `skills` by the path of their folder."""

    installed: dict[str, Pinned] = {}
    skills: dict[str, LockedSkill] = {}


def read_lock(place: Place) -> PluginLock:
    """Raises FileError when the file is broken: a lock that can't be read locks nothing."""
    document = _document(place)
    section = document.get("plugins", {}) if document is not None else {}
    try:
        return msgspec.convert(section, PluginLock)
    except msgspec.ValidationError as error:
        raise _broken(place, f"its section `plugins`: {error}") from None


def write_lock(
    place: Place,
    installed: Mapping[str, Pinned | None],
    skills: Mapping[str, LockedSkill] | None = None,
) -> bool:
    """Put plugins in, or take them out (None); `skills` replaces those of before. False without a change."""
    try:
        with locked(lock_of(path(place))):
            document = _document(place)
            before = read_lock(place)
            plugins = {**before.installed, **installed}
            kept = {name: one for name, one in sorted(plugins.items()) if one is not None}
            lock = PluginLock(kept, dict(sorted((before.skills if skills is None else skills).items())))
            section = {name: value for name, value in msgspec.to_builtins(lock).items() if value}
            made: dict[str, Any] = {**({"version": VERSION} if document is None else document)}
            made.pop("plugins", None)
            if section:
                made["plugins"] = section
            if made == document or (document is None and not section):
                return False
            write_atomic(Path(path(place)), json.dumps(made, indent=2, ensure_ascii=False) + "\n")
            return True
    except OSError as error:
        raise FileError(
            f"{path(place)} can't be written: {error.strerror or error}", kind="lock_unwritable"
        ) from error


def _document(place: Place) -> dict[str, Any] | None:
    file = path(place)
    if not os.path.lexists(file):
        return None
    found = read_text(file, within=place.within)
    if found.problem is not None:
        raise _broken(place, found.problem)
    decoded = decode(found.text)
    if isinstance(decoded, JsonError):
        raise _broken(place, f"it is not JSON: {decoded.message}")
    if not isinstance(decoded.value, dict) or decoded.value.get("version") != VERSION:
        raise _broken(place, f"it is not of version {VERSION}")
    return dict(decoded.value)


def _broken(place: Place, why: str) -> FileError:
    return FileError(
        f"{FILE} is broken: {why}",
        kind="lock_broken",
        hint="Repair it, or remove it and install the plugins again.",
        origin=Origin(path(place), "project"),
    )
