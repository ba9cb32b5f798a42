"""Which plugins a session has, and where each one is."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from checkrein.base.jsonpos import join
from checkrein.base.origin import COMMAND_LINE, Origin, Scope
from checkrein.dialects import jsonfile, scan
from checkrein.dialects.claude import marketplaces, plugins
from checkrein.dialects.codes import Log, diagnose
from checkrein.dialects.jsonfile import Document
from checkrein.facts import claude
from checkrein.facts import claude_plugins as facts
from checkrein.facts.claude_settings import PRECEDENCE
from checkrein.model.items import Plugin
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
    switches = list(_enabled(files))
    if switches:
        from checkrein.dialects.claude import enabled_plugins
        from checkrein.dialects.claude.plugin_places import Places

        parts, elsewhere = enabled_plugins.read(switches, Places(place, files, env), env, log)
        found += parts
        roots |= elsewhere
    found = _one_of_each_name(found, log)
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
        root = marketplaces.local_root(entry, place.root, marketplaces.plugin_root(document))
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


def _one_of_each_name(parts: Sequence[Sources], log: Log) -> list[Sources]:
    """Parts of a plugin know it by its name, so one of a name is on: another can't take its values."""
    first: dict[str, Plugin] = {}
    kept = []
    for part in parts:
        plugin = next(iter(part.plugins), None)
        if plugin is not None and plugin.enabled and first.setdefault(plugin.name, plugin) is not plugin:
            message = f"`{plugin.identity}` is off: `{first[plugin.name].identity}` has its name"
            log.append(diagnose("PLUGIN007", message, plugin.switch or plugin.origin))
            part = replace(part, plugins=(replace(plugin, enabled=False),))
        kept.append(part)
    return kept


def _raw(document: Document) -> list[Mapping[str, Any]]:
    listed = document.value["plugins"]
    return [item for item in listed if isinstance(item, dict) and isinstance(item.get("name"), str)]


def _joined(parts: Sequence[Sources]) -> Sources:
    names = Sources.__struct_fields__
    return Sources(**{name: tuple(item for part in parts for item in getattr(part, name)) for name in names})
