"""Writes permissions into a settings file: one change goes in, every other byte stays."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

from checkrein.base import jsonc
from checkrein.base.errors import UsageError
from checkrein.base.files import read_text, write_atomic
from checkrein.base.origin import Span
from checkrein.deploy import jsontext
from checkrein.policy.updates import (
    AddDirectories,
    AddRules,
    RemoveDirectories,
    RemoveRules,
    ReplaceRules,
    SetMode,
    Update,
)

PERMISSIONS = "permissions"
_ATTEMPTS = 5
_writing = threading.Lock()


def save(path: str, update: Update) -> None:
    """Write an update into the settings file. Raises UsageError when the file can't take it, and then
    leaves the file as it was. It never overwrites the work of another program: it reads the file again."""
    with _writing:
        for _ in range(_ATTEMPTS):
            before = _read(path)
            after = edited(before or "{}\n", update, path)
            if after == before:
                return
            try:
                os.makedirs(os.path.dirname(path), exist_ok=True)
                if _read(path) == before:
                    write_atomic(Path(path), after)
                    return
            except OSError as error:
                raise _refusal(path, f"can't be written ({error.strerror or error})") from error
    raise _refusal(path, "is being changed by another program")


def place_of(path: str, verdict: str, text: str) -> Span | None:
    """The place of a rule in the file."""
    written = _read(path)
    if written is None:
        return None
    listed = jsontext.find(written, (PERMISSIONS, verdict))
    for index, value in enumerate(listed.value if listed is not None else ()):
        if value == text:
            found = jsontext.find(written, (PERMISSIONS, verdict, index))
            return Span(written.count("\n", 0, found.at) + 1) if found is not None else None
    return None


def edited(text: str, update: Update, path: str) -> str:
    """The text of a settings file after an update."""
    document = _parsed(text, path)
    inner = document.get(PERMISSIONS, {})
    if not isinstance(inner, dict):
        raise _refusal(path, "has `permissions` that are not an object")
    if isinstance(update, SetMode):
        return _checked(_with_mode(text, document, update), path)
    key, items = _listed(update)
    held = inner.get(key, [])
    if not isinstance(held, list):
        raise _refusal(path, f"has `permissions.{key}` that is not a list")
    if isinstance(update, RemoveRules | RemoveDirectories):
        for index in reversed([at for at, value in enumerate(held) if value in items]):
            text = jsontext.remove(text, (PERMISSIONS, key, index))
        return _checked(text, path)
    if isinstance(update, ReplaceRules) and key in inner:
        return _checked(jsontext.replace(text, (PERMISSIONS, key), items), path)
    new = [item for item in items if item not in held]
    if not new:
        return text
    if PERMISSIONS not in document:
        return _checked(jsontext.insert(text, (), [(PERMISSIONS, {key: new})]), path)
    if key not in inner:
        return _checked(jsontext.insert(text, (PERMISSIONS,), [(key, new)]), path)
    return _checked(jsontext.insert(text, (PERMISSIONS, key), [("", item) for item in new]), path)


def _listed(update: Update) -> tuple[str, list[str]]:
    if isinstance(update, AddDirectories | RemoveDirectories):
        return "additionalDirectories", list(dict.fromkeys(update.directories))
    assert isinstance(update, AddRules | ReplaceRules | RemoveRules)
    return update.behavior, list(dict.fromkeys(rule.text for rule in update.rules))


def _with_mode(text: str, document: dict[str, Any], update: SetMode) -> str:
    if PERMISSIONS not in document:
        return jsontext.insert(text, (), [(PERMISSIONS, {"defaultMode": update.mode})])
    if "defaultMode" not in document[PERMISSIONS]:
        return jsontext.insert(text, (PERMISSIONS,), [("defaultMode", update.mode)])
    return jsontext.replace(text, (PERMISSIONS, "defaultMode"), update.mode)


def _read(path: str) -> str | None:
    """The text of the file; None when it does not exist yet."""
    if not os.path.lexists(path):
        return None
    found = read_text(path)
    if found.problem is not None or found.bom:
        raise _refusal(path, found.problem or "begins with a byte order mark")
    return found.text


def _parsed(text: str, path: str) -> dict[str, Any]:
    try:
        value = json.loads(jsonc.strict(text))
    except ValueError as error:
        raise _refusal(path, f"is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise _refusal(path, "is not a JSON object")
    return value


def _checked(text: str, path: str) -> str:
    _parsed(text, path)
    return text


def _refusal(path: str, why: str) -> UsageError:
    return UsageError(
        f"{path} {why}.",
        kind="settings_not_saved",
        hint="Correct the file. The session continues without it.",
    )
