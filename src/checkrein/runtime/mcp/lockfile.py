"""`checkrein.lock`: the definitions of tools that a team has seen, in its repository.

It approves nothing. Whoever meets a server for the first time is asked about tools that differ from the
lock, and `checkrein mcp list` shows the difference. Sections of other kinds stay as they are.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from checkrein.base.errors import FileError
from checkrein.base.files import locked, read_text, write_atomic
from checkrein.base.home import lock_of
from checkrein.base.jsonpos import Json, JsonError, decode
from checkrein.base.origin import Origin, Span
from checkrein.model.items import Server
from checkrein.model.project import Place
from checkrein.runtime.mcp.tool_hashes import Hashes

FILE = "checkrein.lock"
VERSION = 1


class Lock(Struct, frozen=True):
    """`servers` maps a server to the hashes of its tools. `problem` says why the file is not used."""

    servers: dict[str, Hashes] = {}
    problem: str | None = None
    origin: Origin | None = None


def path(place: Place) -> str:
    return os.path.join(place.root, FILE)


def is_shared(server: Server) -> bool:
    """Whether a server belongs into the lock: nothing of the user's own gets into a repository."""
    return server.origin.scope == "project" and server.plugin is None


def read(place: Place) -> Lock:
    found = _document(place)
    if isinstance(found, Lock):
        return found
    section = found.value.get("mcp")
    servers = section.get("servers") if isinstance(section, dict) else None
    if not isinstance(servers, dict):
        return Lock()
    return Lock({name: _tools(entry) for name, entry in servers.items()})


def write(place: Place, seen: Mapping[str, Hashes], known: Collection[str]) -> bool:
    """Put in the servers that were `seen`, and take out those that are not `known`. False when the file says
    all that already. Raises FileError when it is broken. One process at a time writes."""
    try:
        with locked(lock_of(path(place))):
            return _written(place, seen, known)
    except OSError as error:
        raise FileError(
            f"{path(place)} can't be written: {error.strerror or error}",
            kind="lock_unwritable",
            hint=f"Check the permissions of {error.filename or path(place)}.",
        ) from error


def _written(place: Place, seen: Mapping[str, Hashes], known: Collection[str]) -> bool:
    found = _document(place)
    if isinstance(found, Lock):
        if found.problem is not None:
            hint = "Repair it, or remove it and approve the servers again."
            raise FileError(found.problem, kind="lock_broken", hint=hint, origin=found.origin)
        document: dict[str, Any] = {"version": VERSION}
    else:
        document = dict(found.value)
    before = read(place).servers
    servers = {name: tools for name, tools in {**before, **seen}.items() if name in known}
    entries = {name: {"tools": dict(sorted(tools.items()))} for name, tools in sorted(servers.items())}
    section = document.get("mcp")
    document["mcp"] = {**(section if isinstance(section, dict) else {}), "servers": entries}
    if not isinstance(found, Lock) and document == found.value:
        return False
    if isinstance(found, Lock) and not entries:
        return False
    write_atomic(Path(path(place)), json.dumps(document, indent=2, ensure_ascii=False) + "\n")
    return True


def _document(place: Place) -> Json | Lock:
    """The file as JSON, or a Lock that says that there is none or what is wrong with it."""
    file = path(place)
    if not os.path.lexists(file):
        return Lock()
    origin = Origin(file, "project")
    found = read_text(file, within=place.within)
    if found.problem is not None:
        return Lock(problem=f"{file} {found.problem}", origin=origin)
    decoded = decode(found.text)
    if isinstance(decoded, JsonError):
        return Lock(problem=f"{FILE} is not JSON: {decoded.message}", origin=origin.at(decoded.span))
    if not isinstance(decoded.value, dict):
        return Lock(problem=f"{FILE} does not hold a JSON object", origin=origin.at(Span(1)))
    if decoded.value.get("version") != VERSION:
        at = origin.at(decoded.spans.get("$.version", Span(1)), "$.version")
        return Lock(problem=f"{FILE} is not of version {VERSION}", origin=at)
    return decoded


def _tools(entry: Any) -> dict[str, str]:
    tools = entry.get("tools") if isinstance(entry, dict) else None
    return {name: str(value) for name, value in tools.items()} if isinstance(tools, dict) else {}
