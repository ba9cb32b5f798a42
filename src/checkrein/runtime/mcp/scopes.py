"""The files that hold a user's servers, and how an entry goes in and out.

`local` and `user` are in the state file of the product, `project` is `.mcp.json`. An edit keeps every other
byte. A file that is not JSON is never written.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, get_args

from msgspec import Struct

from checkrein.base.errors import CheckreinError, FileError, NotFoundError, PolicyError
from checkrein.base.files import leaves, locked, read_text, write_atomic
from checkrein.base.home import lock_of
from checkrein.base.jsonpos import Json, JsonError, decode, join
from checkrein.base.nearest import did_you_mean
from checkrein.base.origin import Origin
from checkrein.deploy import jsontext
from checkrein.dialects.claude.place import project_paths, state_file
from checkrein.facts import claude
from checkrein.model.project import Place

WrittenScope = Literal["local", "project", "user"]
WRITTEN_SCOPES: tuple[WrittenScope, ...] = get_args(WrittenScope)
_SERVERS = "mcpServers"
_PRIVATE = 0o600


class Held(Struct, frozen=True):
    """The servers of one scope. `parts` lead to their object in the file; `text` is None without a file."""

    file: str
    scope: WrittenScope
    parts: tuple[str, ...]
    text: str | None = None
    bom: bool = False
    entries: dict[str, Any] = {}
    places: dict[str, Origin] = {}


def held(place: Place, scope: WrittenScope) -> Held:
    """Raises FileError when the file can't be read as JSON."""
    file = _project_file(place) if scope == "project" else state_file(place)
    origin = Origin(file, scope)
    if not os.path.lexists(file):
        return Held(file, scope, _parts(place, scope, {}))
    found = read_text(file, within=place.within if scope == "project" else None)
    if found.problem is not None:
        raise _broken(f"{file} {found.problem}.", origin)
    decoded = decode(found.text)
    if isinstance(decoded, JsonError):
        raise _broken(f"{os.path.basename(file)} is not JSON: {decoded.message}.", origin.at(decoded.span))
    if not isinstance(decoded.value, dict):
        raise _broken(f"{os.path.basename(file)} does not hold a JSON object.", origin)
    parts = _parts(place, scope, decoded.value)
    entries = _object(decoded, parts, origin)
    path = _path(parts)
    places = {name: origin.at(decoded.spans.get(join(path, name)), join(path, name)) for name in entries}
    return Held(file, scope, parts, found.text, found.bom, entries, places)


def add(place: Place, scope: WrittenScope, name: str, entry: dict[str, Any]) -> Origin:
    """Write a new entry. Raises PolicyError when the name is taken or an administrator fixed the servers."""
    require_open(place)

    def change(holder: Held) -> str:
        if name in holder.entries:
            raise PolicyError(
                f"The server {name} exists already in {holder.file}.",
                kind="server_exists",
                hint=f"Remove it first: `checkrein mcp remove {name} --scope {scope}`.",
                origin=holder.places[name],
            )
        return _inserted(holder, name, entry)

    return _edit(place, scope, change).places[name]


def remove(place: Place, scope: WrittenScope, name: str) -> Origin:
    """Take an entry out; gives the place where it was."""
    gone: list[Origin] = []

    def change(holder: Held) -> str:
        if name not in holder.entries or holder.text is None:
            known = did_you_mean(name, holder.entries)
            raise NotFoundError(
                f"There is no server {name!r} in the scope {scope} ({holder.file}).{known}",
                kind="server_not_found",
                hint="`checkrein mcp list` shows where each server comes from.",
            )
        gone.append(holder.places[name])
        return jsontext.remove(holder.text, (*holder.parts, name))

    _edit(place, scope, change)
    return gone[-1]


def require_open(place: Place) -> None:
    """Raise PolicyError when only an administrator's servers count."""
    if place.managed_servers:
        file = os.path.join(place.managed_dir or "", claude.MANAGED_MCP_FILE)
        raise PolicyError(
            f"{file} exists, so only its servers count, and none can be added.",
            kind="servers_managed",
            hint="Ask your administrator to add the server there.",
            origin=Origin(file, "managed"),
        )


def _edit(place: Place, scope: WrittenScope, change: Callable[[Held], str]) -> Held:
    """One change at a time on this machine; a change by another program in between is kept."""
    file = held(place, scope).file
    try:
        with locked(lock_of(file)):
            while True:
                before = held(place, scope)
                text = change(before)
                _require_only(before, text)
                if held(place, scope).text == before.text:
                    break
            _write(place, before, text)
    except OSError as error:
        raise FileError(
            f"{file} can't be written: {error.strerror or error}",
            kind="config_unwritable",
            hint=f"Check the permissions of {error.filename or file}.",
        ) from error
    return held(place, scope)


def _write(place: Place, before: Held, text: str) -> None:
    """Write to where a link leads: a user may keep the file elsewhere, a project only inside itself."""
    target = os.path.realpath(before.file)
    if before.scope == "project" and leaves(target, before.file, place.within):
        raise FileError(
            f"{before.file} is a symbolic link that leaves the project.", kind="link_leaves_project"
        )
    os.makedirs(os.path.dirname(target), exist_ok=True)
    fresh = before.text is None and before.scope != "project"
    data = ("\ufeff" if before.bom else "") + text
    write_atomic(Path(target), data, mode=_PRIVATE if fresh else None)


def _require_only(before: Held, text: str) -> None:
    """The new text must be JSON with the same values outside the servers of the scope."""
    after = decode(text)
    old = decode(before.text or "{}")
    if isinstance(after, Json) and isinstance(old, Json):
        same = _without(old.value, before.parts) == _without(after.value, before.parts)
        if same and not after.duplicates:
            return
    duplicates = old.duplicates if isinstance(old, Json) else ()
    reason = f"`{duplicates[0].removeprefix('$.')}` appears more than once in it" if duplicates else "unclear"
    raise FileError(
        f"{before.file} can't be edited safely: {reason}.",
        kind="config_broken",
        hint="Repair the file, then try again.",
        origin=Origin(before.file, before.scope),
    )


def _without(value: Any, parts: tuple[str, ...]) -> Any:
    """A document without the object at `parts`, and without the objects around it that hold nothing else."""
    if not parts:
        return {key: part for key, part in value.items() if not isinstance(part, dict)}
    inner = value.get(parts[0])
    rest = {key: part for key, part in value.items() if key != parts[0]}
    if len(parts) > 1 and isinstance(inner, dict):
        left = _without(inner, parts[1:])
        return {**rest, parts[0]: left} if left else rest
    return rest


def _inserted(holder: Held, name: str, entry: dict[str, Any]) -> str:
    if holder.text is None:
        value: Any = {name: entry}
        for part in reversed(holder.parts):
            value = {part: value}
        return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    depth = len(holder.parts)
    while jsontext.find(holder.text, holder.parts[:depth]) is None:
        depth -= 1
    missing = [*holder.parts[depth:], name]
    value = entry
    for part in reversed(missing[1:]):
        value = {part: value}
    return jsontext.insert(holder.text, holder.parts[:depth], [(missing[0], value)])


def _project_file(place: Place) -> str:
    """Readers look in the working directory first, so its own file counts; else the one of the root."""
    nearest = os.path.join(place.cwd, claude.MCP_FILE)
    return nearest if os.path.lexists(nearest) else os.path.join(place.root, claude.MCP_FILE)


def _parts(place: Place, scope: WrittenScope, document: dict[str, Any]) -> tuple[str, ...]:
    """Where the readers look for the servers of a scope."""
    if scope == "user":
        return (_SERVERS,)
    if scope == "project":
        bare = _SERVERS not in document and document.keys() - {"$schema"}
        return () if bare else (_SERVERS,)
    projects = document.get("projects")
    known = projects if isinstance(projects, dict) else {}
    paths = project_paths(place)
    first = next((path for path in paths if _has_servers(known.get(path))), place.repo_root or place.root)
    return ("projects", first, _SERVERS)


def _has_servers(entry: Any) -> bool:
    return isinstance(entry, dict) and bool(entry.get(_SERVERS))


def _object(document: Json, parts: tuple[str, ...], origin: Origin) -> dict[str, Any]:
    value: Any = document.value
    for depth, part in enumerate(parts, 1):
        value = value.get(part, {})
        if not isinstance(value, dict):
            path = _path(parts[:depth])
            message = f"`{path.removeprefix('$.')}` must be an object."
            raise _broken(message, origin.at(document.spans.get(path), path))
    return {name: entry for name, entry in value.items() if parts or name != "$schema"}


def _path(parts: tuple[str, ...]) -> str:
    path = "$"
    for part in parts:
        path = join(path, part)
    return path


def _broken(message: str, origin: Origin) -> CheckreinError:
    hint = "Repair the file first; nothing was written."
    return FileError(message, kind="config_broken", hint=hint, origin=origin)
