"""One plugin of a marketplace: fetched, checked, in the cache, with its version and what it can do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from checkrein.base.errors import UsageError
from checkrein.dialects.claude import marketplaces, plugins
from checkrein.facts import claude_plugins as facts
from checkrein.model.items import Plugin
from checkrein.model.plugins import Known, Pinned
from checkrein.model.project import Sources
from checkrein.runtime.plugins.admin_lists import AdminLists
from checkrein.runtime.plugins.capability_surface import of_plugin
from checkrein.runtime.plugins.marketplace_roll import Catalog
from checkrein.runtime.plugins.package_cache import PackageCache
from checkrein.runtime.plugins.package_tree import UnsafePackageError
from checkrein.runtime.plugins.plugin_names import require_plain
from checkrein.runtime.plugins.plugin_sources import Home, PluginSources, is_here, named_hosts

_GIT = ("github", "url", "git-subdir")
_COMPONENTS = (*facts.COMPONENTS, "userConfig", "channels")


class Package(Struct, frozen=True):
    """A plugin in the cache. `default` says whether it is switched on unless somebody says otherwise."""

    identity: str
    pinned: Pinned
    plugin: Plugin
    default: bool = True


class Packages:
    def __init__(self, sources: PluginSources, cache: PackageCache, admin: AdminLists) -> None:
        self._sources, self._cache, self._admin = sources, cache, admin

    def get(self, catalog: Catalog, name: str, *, commit: str | None = None) -> Package:
        """The plugin as its marketplace has it; `commit` pins the repository of its own source. Raises
        CheckreinError; then nothing is installed."""
        entry = catalog.entry(name)
        identity = f"{require_plain(entry.name, 'plugin')}@{catalog.name}"
        self._admin.require_plugin(identity)
        raw = catalog.raw[entry.name]
        kind, fields, problem = marketplaces.source_of(raw.get("source"), catalog.home.plugin_root)
        if problem is not None:
            raise UsageError(f"The source of {identity} {problem}.", kind="source_invalid")
        if kind == "command":
            self._admin.require_commands()
        pin = {"sha": commit} if commit and kind in _GIT else {}
        return self._fetched(identity, {"source": kind, **fields, **pin}, raw, catalog.home, catalog.known)

    def locked(self, identity: str, pinned: Pinned) -> Package:
        """The plugin from the source that a lock names, without its marketplace."""
        self._admin.require_plugin(identity)
        kind, fields, problem = marketplaces.source_of(pinned.source)
        if problem is not None:
            raise UsageError(f"The source of {identity} {problem}.", kind="source_invalid")
        if kind == "command":
            self._admin.require_commands()
        pin = {"sha": pinned.commit} if pinned.commit and kind in _GIT else {}
        raw = {**pinned.entry, "name": identity.rpartition("@")[0]}
        home = Home(named=named_hosts(pinned.marketplace), local=is_here(pinned.marketplace))
        known = Known(source=pinned.marketplace)
        return self._fetched(identity, {"source": kind, **fields, **pin}, raw, home, known)

    def _fetched(
        self, identity: str, source: Mapping[str, Any], raw: Mapping[str, Any], home: Home, known: Known
    ) -> Package:
        marketplace = identity.rpartition("@")[2]
        with self._cache.staging() as staging:
            fetched = self._sources.plugin(source, staging, home)
            _read(fetched.directory, marketplace, raw)
            hash = self._cache.put(fetched.directory)
        root = self._cache.place(hash)
        plugin, parts = _read(root, marketplace, raw)
        commit = fetched.commit or (known.commit if source["source"] == "path" else None)
        default = raw.get("defaultEnabled", parts.plugins[0].unknown.get("defaultEnabled"))
        pinned = Pinned(
            hash=hash,
            version=_version(
                plugin, raw, commit or fetched.sha256, hash, is_made=source["source"] == "command"
            ),
            source={key: one for key, one in fetched.source.items() if key != "sha"},
            commit=commit,
            marketplace=dict(known.source),
            capabilities=of_plugin(plugin, parts),
            entry=_merged(raw),
        )
        return Package(identity, pinned, plugin, default is not False and _default(root) is not False)


def _default(root: str) -> Any:
    from checkrein.dialects.claude import manifest
    from checkrein.dialects.codes import Log

    found = manifest.read(root, Log())
    return found.values.get("defaultEnabled") if found is not None else None


def _read(root: str, marketplace: str, raw: Mapping[str, Any]) -> tuple[Plugin, Sources]:
    """The plugin in a directory. Raises UnsafePackageError when no agent could load it."""
    found = plugins.read(root, marketplace=marketplace, entry=raw)
    if not found.plugins:
        why = next((one.message for one in found.diagnostics if one.severity == "error"), "no manifest")
        raise UnsafePackageError(f"The plugin can't be loaded: {why}", kind="plugin_invalid")
    outside = next((one.message for one in found.diagnostics if one.code == "PLUGIN003"), None)
    if outside is not None:
        raise UnsafePackageError(outside)
    plugin = found.plugins[0]
    if raw.get("strict") is False and plugin.format == "claude":
        own = plugins.read(root, marketplace=marketplace).plugins
        named = [key for key in _COMPONENTS if own and key in own[0].spans]
        if named:
            raise UnsafePackageError(
                f"The marketplace says `strict: false`, and the plugin's manifest names `{named[0]}` too.",
                kind="plugin_invalid",
            )
    require_plain(plugin.name, "plugin")
    return plugin, found


def _merged(raw: Mapping[str, Any]) -> dict[str, Any]:
    """What the marketplace's entry adds to the manifest whenever the plugin loads."""
    kept = {key: one for key, one in raw.items() if key in facts.MANIFEST_KEYS and key != "name"}
    if raw.get("strict") is False:
        kept |= {"strict": False, "name": raw["name"]}
    if raw.get("source") in (".", "./"):
        kept["source"] = "./"
    return kept


def _version(plugin: Plugin, raw: Mapping[str, Any], fetched: str | None, hash: str, *, is_made: bool) -> str:
    """The manifest, else the entry, else the commit or the archive that was `fetched`. What a command
    made has a new version with each content."""
    written = plugin.version or (raw["version"] if isinstance(raw.get("version"), str) else None)
    if is_made:
        short = hash.removeprefix("sha256:")[:12]
        return f"{written}-{short}" if written else short
    return written or (fetched or "unknown")[:12]
