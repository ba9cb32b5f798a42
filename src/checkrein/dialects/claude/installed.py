"""Which plugins a session has, and where each one is."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from checkrein.base.files import beneath
from checkrein.base.jsonpos import join
from checkrein.base.origin import COMMAND_LINE, Origin, Scope
from checkrein.dialects import jsonfile, scan
from checkrein.dialects.claude import marketplaces, plugins
from checkrein.dialects.codes import Log, diagnose
from checkrein.dialects.jsonfile import Document
from checkrein.facts import claude
from checkrein.facts import claude_plugins as facts
from checkrein.facts.claude_settings import PRECEDENCE
from checkrein.model.project import Place, Sources


def read(
    place: Place,
    files: Sequence[Document],
    *,
    env: Mapping[str, str],
    plugin_dirs: Sequence[str] = (),
    skills_dirs: Sequence[str] = (),
) -> Sources:
    """Plugins of the command line, skills directories and settings, and a project that is itself a plugin."""
    log = Log(place.within)
    found: list[Sources] = []
    roots: set[str] = set()

    def add(part: Sources, root: str) -> None:
        roots.add(os.path.realpath(root))
        found.append(part)

    for given in plugin_dirs:
        root = os.path.realpath(os.path.join(place.cwd, os.path.expanduser(given)))
        if os.path.isdir(root):
            add(plugins.read(root, marketplace=facts.INLINE), root)
        else:
            message = f"`{given}` is not a directory; unpack an archive first"
            log.append(diagnose("PLUGIN001", message, Origin(COMMAND_LINE, "cli", field="--plugin-dir")))
    for root in skills_dirs:
        if os.path.realpath(root) not in roots:
            add(plugins.read(root, marketplace=facts.SKILLS_DIR, within=place.within), root)
    for root in dict.fromkeys((place.cwd, place.root)):
        if root not in roots and (plugins.is_plugin(root) or plugins.is_open_plugin(root)):
            add(plugins.read(root, marketplace=facts.INLINE, within=place.within), root)
    for identity, enabled, origin in _enabled(files):
        installed = find(identity, place, files, env, log)
        if installed is not None:
            _, _, marketplace = identity.rpartition("@")
            add(plugins.read(installed, marketplace=marketplace, enabled=enabled, parts=enabled), installed)
        elif enabled:
            found.append(plugins.missing(identity, origin))
    return _joined([*found, own_marketplace(place, roots), Sources(diagnostics=tuple(log))])


def in_skills_directories(place: Place) -> list[str]:
    """Folders among the user's and the working directory's skills that hold a manifest: they are plugins."""
    quiet = Log(place.within)
    directories: dict[str, Scope] = {os.path.join(place.cwd, claude.CONFIG_DIR): "project"}
    directories[place.config_dir] = "user"
    manifest = os.path.join(os.sep, facts.MANIFEST_DIR, facts.MANIFEST_FILE)
    return [
        path
        for directory, scope in reversed(directories.items())
        for _, path, _ in scan.directories(os.path.join(directory, "skills"), scope, quiet)
        if os.path.exists(path + manifest)
    ]


def _enabled(files: Sequence[Document]) -> Iterator[tuple[str, bool, Origin]]:
    """Each plugin that a settings file switches on or off; the highest file decides."""
    seen: set[str] = set()
    for file in sorted(files, key=lambda file: PRECEDENCE.index(file.origin.scope)):
        listed = file.value.get("enabledPlugins")
        if not isinstance(listed, dict):
            continue
        for identity, value in listed.items():
            if identity not in seen:
                seen.add(identity)
                yield identity, value is not False, file.at(join("$.enabledPlugins", identity))


def find(
    identity: str, place: Place, files: Sequence[Document], env: Mapping[str, str], log: Log
) -> str | None:
    """The directory of an installed plugin: as recorded, in the cache, or in a local marketplace."""
    name, _, marketplace = identity.rpartition("@")
    if not name or not _is_plain(name) or not _is_plain(marketplace):
        return None
    base = env.get(claude.ENV_PLUGIN_ROOT) or os.path.join(place.config_dir, "plugins")
    return (
        _recorded(identity, base)
        or _cached(os.path.join(base, "cache", marketplace, name), log)
        or _in_marketplace(name, marketplace, base, files, place)
    )


def _is_plain(name: str) -> bool:
    return bool(name) and name not in (".", "..") and not re.search(r"[/\\\0]", name)


def _recorded(identity: str, base: str) -> str | None:
    quiet = Log()
    document = jsonfile.read(os.path.join(base, "installed_plugins.json"), "user", quiet)
    listed = document.value.get("plugins") if document else None
    entry: Any = listed.get(identity) if isinstance(listed, dict) else None
    for record in entry if isinstance(entry, list) else [entry]:
        path = record.get("installPath") if isinstance(record, dict) else None
        if isinstance(path, str) and "\0" not in path and os.path.isdir(path):
            return os.path.realpath(path)
    return None


def _cached(directory: str, log: Log) -> str | None:
    """The newest version in the cache."""
    versions = [(name, path) for name, path, _ in scan.directories(directory, "user", log)]
    if not versions:
        return None
    return max(versions, key=lambda version: _version_key(version[0]))[1]


def _version_key(text: str) -> tuple[tuple[int, int, str], ...]:
    return tuple(
        (1, int(part), "") if part.isdecimal() and len(part) < 10 else (0, 0, part)
        for part in re.split(r"[.+-]", text)
    )


def _in_marketplace(
    name: str, marketplace: str, base: str, files: Sequence[Document], place: Place
) -> str | None:
    """A plugin in a checked-out or local marketplace."""
    quiet = Log()
    for root in (os.path.join(base, "marketplaces", marketplace), *_declared(marketplace, files, place)):
        path = marketplaces.file_in(root)
        document = jsonfile.read(path, "user", quiet) if os.path.isfile(path) else None
        catalog = marketplaces.parse(document, quiet) if document else None
        for entry in catalog.entries if catalog else ():
            if entry.name == name:
                return marketplaces.local_root(entry, root, _plugin_root(document))
    return None


def _declared(marketplace: str, files: Sequence[Document], place: Place) -> Iterator[str]:
    """Local marketplaces in settings. A shared file of the project names only directories inside it."""
    for file in files:
        known = file.value.get("extraKnownMarketplaces")
        entry = known.get(marketplace) if isinstance(known, dict) else None
        source = entry.get("source") if isinstance(entry, dict) else None
        if isinstance(source, dict) and source.get("source") in ("directory", "file"):
            path = source.get("path")
            if isinstance(path, str) and os.path.isabs(path) and "\0" not in path:
                root = path if source["source"] == "directory" else os.path.dirname(os.path.dirname(path))
                real = os.path.realpath(root)
                if file.origin.scope != "project" or any(beneath(real, own) for own in place.within):
                    yield root


def _plugin_root(document: Document | None) -> Any:
    metadata = document.value.get("metadata") if document else None
    return metadata.get("pluginRoot") if isinstance(metadata, dict) else None


def own_marketplace(place: Place, roots: set[str]) -> Sources:
    """A project that is a marketplace: its catalogue, and the plugins in it, none of them enabled."""
    log = Log(place.within)
    path = marketplaces.file_in(place.root)
    if not os.path.lexists(path):
        return Sources()
    document = jsonfile.read(path, "project", log)
    catalog = marketplaces.parse(document, log) if document else None
    if document is None or catalog is None:
        return Sources(diagnostics=tuple(log))
    found = Sources(marketplaces=(catalog,), diagnostics=tuple(log))
    raw = {id(entry): item for entry, item in zip(catalog.entries, _raw(document), strict=False)}
    parts: list[Sources] = []
    for entry in catalog.entries:
        root = marketplaces.local_root(entry, place.root, _plugin_root(document))
        if root is not None and root not in roots:
            parts.append(
                plugins.read(
                    root,
                    marketplace=catalog.name,
                    enabled=False,
                    entry=raw.get(id(entry)),
                    within=place.within,
                )
            )
    return _joined([found, *parts])


def _raw(document: Document) -> list[Mapping[str, Any]]:
    listed = document.value["plugins"]
    return [item for item in listed if isinstance(item, dict) and isinstance(item.get("name"), str)]


def _joined(parts: Sequence[Sources]) -> Sources:
    names = Sources.__struct_fields__
    return Sources(**{name: tuple(item for part in parts for item in getattr(part, name)) for name in names})
