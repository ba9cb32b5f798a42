"""One value of a settings file goes in or out; every other byte stays. A file that is not JSON is never
written."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from checkrein.base.errors import FileError
from checkrein.base.files import leaves, locked, read_text, write_atomic
from checkrein.base.home import lock_of
from checkrein.base.jsonpos import JsonError, decode
from checkrein.base.origin import Origin
from checkrein.deploy import jsontext
from checkrein.facts import claude
from checkrein.model.plugins import PluginScope
from checkrein.model.project import Place

Change = Callable[[Any], Any]
"""From the value at a place (None without one) to the new one; None removes it."""


def settings_path(place: Place, scope: PluginScope) -> str:
    if scope == "user":
        return os.path.join(place.config_dir, claude.SETTINGS_FILE)
    name = claude.SETTINGS_FILE if scope == "project" else claude.LOCAL_SETTINGS_FILE
    return os.path.join(place.root, claude.CONFIG_DIR, name)


def require_editable(place: Place, scope: PluginScope) -> str:
    """The settings file of a scope. Raises FileError when no value could go into it."""
    file = settings_path(place, scope)
    if scope != "user" and leaves(os.path.realpath(file), file, place.within):
        raise FileError(f"{file} is a symbolic link that leaves the project.", kind="link_leaves_project")
    _text(file, scope)
    return file


def change_setting(place: Place, scope: PluginScope, parts: tuple[str, str], change: Change) -> Origin:
    """Change the value at two keys. Raises FileError; then nothing is written."""
    file = require_editable(place, scope)
    target = os.path.realpath(file)
    try:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with locked(lock_of(file)):
            before = _text(file, scope)
            after = _changed(before, parts, change)
            if after is not None and after != before:
                write_atomic(
                    Path(target), after, mode=0o600 if before is None and scope != "project" else None
                )
    except OSError as error:
        raise FileError(
            f"{file} can't be written: {error.strerror or error}",
            kind="config_unwritable",
            hint=f"Check the permissions of {error.filename or file}.",
        ) from error
    return Origin(file, scope)


def _text(file: str, scope: PluginScope) -> str | None:
    if not os.path.lexists(file):
        return None
    found = read_text(file)
    decoded = decode(found.text) if found.problem is None else None
    problem = found.problem
    if isinstance(decoded, JsonError):
        problem = f"is not JSON: {decoded.message}"
    elif decoded is not None and not isinstance(decoded.value, dict):
        problem = "does not hold a JSON object"
    elif decoded is not None and decoded.duplicates:
        problem = f"holds `{decoded.duplicates[0].removeprefix('$.')}` more than once"
    if problem is not None:
        hint = "Repair the file first; nothing was written."
        raise FileError(f"{file} {problem}.", kind="config_broken", hint=hint, origin=Origin(file, scope))
    return found.text


def _changed(text: str | None, parts: tuple[str, str], change: Change) -> str | None:
    outer, inner = parts
    held = None if text is None else jsontext.find(text, (outer,))
    if held is not None and not isinstance(held.value, dict):
        raise FileError(f"`{outer}` must be an object.", kind="config_broken")
    old = held.value.get(inner) if held is not None else None
    new = change(old)
    if new == old:
        return text
    if text is None:
        return json.dumps({outer: {inner: new}}, indent=2, ensure_ascii=False) + "\n"
    if held is None:
        return jsontext.insert(text, (), [(outer, {inner: new})])
    if new is None:
        return jsontext.remove(text, (outer, inner))
    if inner in held.value:
        return jsontext.replace(text, (outer, inner), new)
    return jsontext.insert(text, (outer,), [(inner, new)])
