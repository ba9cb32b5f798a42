"""The content of other agents' files, one dialect at a time.

None of it is part of a session: `load` keeps it separate from the source items that are resolved, trusted,
deployed and compiled.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.extensions import installed
from checkrein.facts.agent_marks import MARKS
from checkrein.model.items import Instruction
from checkrein.model.project import Place, Project, Sources

if TYPE_CHECKING:
    from checkrein.dialects.dialect import Dialect, Reader

_AGENTS_MD = "agents_md"
_SPEC_KIT = "spec_kit"
_LOOSE = ".mdc"
_LOOSE_CODES = frozenset({"FM001", "FM002"})
"""Cursor reads the fields of its rules line by line, so `globs: *.ts` is right there."""
_CLAUDE_ONLY = frozenset({"AGENT001", "AGENT002", "AGENT003", "FM007"})
"""Findings of readers from Claude Code's table of fields. They are not faults in another agent's file."""


def read(place: Place, own: Sources) -> dict[str, Project]:
    """By name, every dialect with files in the project's root. Files in the home are the user's."""
    if place.root == place.home or not _takes_project(place):
        return {}
    names = list(present(place.root))
    if _AGENTS_MD in names and has_own(place, own):
        names.remove(_AGENTS_MD)
    added = [one for one in installed(place.root) if one.group == "dialects"]
    found = dict(_read(place, names)) if names else {}
    found |= dict(_spec_kit(place))
    return found | dict(_read_added(place)) if added else found


def present(root: str) -> Iterator[str]:
    """Names of the dialects with their own files below `root`; AGENTS.md alone comes last."""
    start = root.rstrip(os.sep) + os.sep
    found: set[str] = set()
    for top, paths in MARKS.items():
        if os.access(start + top, os.F_OK):
            found.update(name for path, name in paths.items() if os.access(start + path, os.F_OK))
    yield from sorted(found, key=lambda name: (name == _AGENTS_MD, name))


def has_own(place: Place, sources: Sources) -> bool:
    """Whether the project has files that Claude Code reads: only then does AGENTS.md count as not read."""
    if place.root_reason == "claude":
        return True
    root = place.root.rstrip(os.sep) + os.sep
    standard = tuple(os.path.join(place.root, folder) + os.sep for folder in (".agents", "skills"))
    kinds = (getattr(sources, kind) for kind in sources.__struct_fields__ if kind not in _NOT_ITEMS)
    return any(
        item.origin.scope in ("project", "local", "plugin")
        and item.origin.file.startswith(root)
        and not item.origin.file.startswith(standard)
        and not _is_agents_md(item)
        and os.path.basename(item.origin.file) not in _CONFIGURATION
        for items in kinds
        for item in items
    )


def _is_agents_md(item: object) -> bool:
    """Claude Code's reader knows AGENTS.md but does not use it."""
    return isinstance(item, Instruction) and item.kind == "agents_md"


_NOT_ITEMS = ("credentials", "switched_off", "diagnostics")
_CONFIGURATION = ("checkrein.toml", "pyproject.toml", "secrets.toml")


def only_new(other: Project, own: Sources, copies: Collection[str]) -> Project:
    """The project without the items of `copies`, and of the files in `own`, which are checked there."""
    names = [name for name in own.__struct_fields__ if name not in _NOT_ITEMS]
    items = (item for name in names for item in getattr(own, name) if not _is_agents_md(item))
    known = {*copies, *(os.path.realpath(item.origin.file) for item in items)}
    sources = other.sources
    kept = {
        name: tuple(i for i in getattr(sources, name) if os.path.realpath(i.origin.file) not in known)
        for name in (*names, "diagnostics")
    }
    if all(len(held) == len(getattr(sources, name)) for name, held in kept.items()):
        return other
    from checkrein.passes.resolve.dialects import resolve_other

    return resolve_other(other.place, replace(sources, **kept), other.detection.dialect)


def _takes_project(place: Place) -> bool:
    return place.setting_sources is None or "project" in place.setting_sources


def _read(place: Place, names: list[str]) -> Iterator[tuple[str, Project]]:
    from checkrein.dialects.table import find

    shared = False
    for name in names:
        dialect = find(name)
        if dialect is None or dialect.read is None or (name == _AGENTS_MD and shared):
            continue
        shared = shared or "AGENTS.md" in dialect.files.instruction
        yield from _project(place, name, _sources(place, dialect, dialect.read))


def _spec_kit(place: Place) -> Iterator[tuple[str, Project]]:
    """The commands of spec-kit extensions: the project itself, and those installed in it."""
    if not any(os.path.exists(os.path.join(place.root, mark)) for mark in (".specify", "extension.yml")):
        return
    from checkrein.dialects.spec_kit.read import extensions, read

    sources = Sources()
    for extension in extensions(place.root):
        sources += read(extension)
    yield from _project(place, _SPEC_KIT, sources)


def _read_added(place: Place) -> Iterator[tuple[str, Project]]:
    """What dialects of installed packages find. If one raises, that is its only finding."""
    from checkrein.passes.extensions import installed_dialects, unusable

    for one in installed_dialects(place.root).added:
        try:
            sources = _sources(place, one.value, one.value.read)
        except Exception as error:
            problem = unusable(one.extension, f"{type(error).__name__}: {error}")
            sources = Sources(diagnostics=(problem,))
        yield from _project(place, one.name, sources)


def _project(place: Place, name: str, sources: Sources) -> Iterator[tuple[str, Project]]:
    from checkrein.passes.resolve.dialects import resolve_other

    if any(getattr(sources, kind) for kind in sources.__struct_fields__):
        yield name, resolve_other(place, sources, name)


def _sources(place: Place, dialect: Dialect, read: Reader) -> Sources:
    from checkrein.dialects.codes import Log
    from checkrein.dialects.collection import collect

    log = Log(place.within)
    tree = collect(place.root, dialect.files, log, directories=_chain(place), links=True)
    sources = read(tree, place.root)
    return replace(sources, diagnostics=tuple(filter(_holds_there, (*log, *sources.diagnostics))))


def _holds_there(found: Diagnostic) -> bool:
    """Whether a reader's finding is a fault for the agent that owns the file."""
    loose = found.origin.file.endswith(_LOOSE) and found.code in _LOOSE_CODES
    return not loose and found.code not in _CLAUDE_ONLY


def _chain(place: Place) -> list[str]:
    """The directories from the root down to the working directory, relative to the root."""
    below = os.path.relpath(place.cwd, place.root).replace(os.sep, "/")
    if below == "." or below.startswith(".."):
        return [""]
    parts = below.split("/")
    return ["", *("/".join(parts[: end + 1]) for end in range(len(parts)))]


def deployed(root: str) -> set[str]:
    """Files as deploy wrote them: a fault in one is a fault in its source."""
    from hashlib import sha256

    from checkrein.base.files import read_text
    from checkrein.base.jsonpos import Json, decode
    from checkrein.facts.agents import DEPLOYED

    decoded = decode(read_text(os.path.join(root, DEPLOYED), within=()).text)
    manifest = decoded.value if isinstance(decoded, Json) and isinstance(decoded.value, dict) else {}
    files = manifest.get("files")
    found = set()
    for path, entry in files.items() if isinstance(files, dict) else ():
        full = os.path.realpath(os.path.join(root, path))
        content = read_text(full, within=())
        written = entry.get("sha256") if isinstance(entry, dict) else None
        if content.readable and written == sha256(content.text.encode("utf-8", "replace")).hexdigest():
            found.add(full)
    return found
