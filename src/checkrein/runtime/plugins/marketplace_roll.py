"""The marketplaces of a user: added by command, or named in settings; their catalogues, and their copies."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from checkrein.base.errors import NotFoundError, PolicyError, UsageError
from checkrein.base.home import home_path
from checkrein.base.home_file import HomeFile
from checkrein.base.nearest import did_you_mean
from checkrein.base.origin import Origin
from checkrein.dialects import jsonfile
from checkrein.dialects.claude import marketplaces
from checkrein.dialects.claude.plugin_places import records
from checkrein.dialects.codes import Log
from checkrein.facts import claude_plugins as facts
from checkrein.model.items import Marketplace, PluginEntry
from checkrein.model.plugins import Known, Records
from checkrein.model.project import Project
from checkrein.runtime.plugins.admin_lists import AdminLists, shown
from checkrein.runtime.plugins.package_cache import PackageCache
from checkrein.runtime.plugins.package_tree import UnsafePackageError
from checkrein.runtime.plugins.plugin_names import require_distinct, require_own_name, require_plain
from checkrein.runtime.plugins.plugin_sources import Home, PluginSources, is_here, named_hosts

_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+")
_LOCAL = ("directory", "file", "settings")


class Catalog(Struct, frozen=True):
    """A marketplace that was read. `raw` are its entries as written, by name."""

    name: str
    known: Known
    listed: Marketplace
    raw: dict[str, Mapping[str, Any]]
    values: Mapping[str, Any]
    home: Home

    def entry(self, name: str) -> PluginEntry:
        """The entry of a plugin, after renames. Raises NotFoundError."""
        wanted = self._renamed(name)
        found = next((one for one in self.listed.entries if one.name == wanted), None)
        if found is None:
            known = did_you_mean(wanted, self.raw)
            raise NotFoundError(
                f"The marketplace {self.name} has no plugin {name!r}.{known}", kind="plugin_not_found"
            )
        return found

    def _renamed(self, name: str) -> str:
        renames = self.values.get("renames")
        seen = [name]
        while isinstance(renames, dict) and seen[-1] in renames and seen[-1] not in self.raw:
            following = renames[seen[-1]]
            if not isinstance(following, str):
                raise NotFoundError(f"The plugin {name!r} was withdrawn.", kind="plugin_not_found")
            if following in seen:
                raise UsageError(
                    f"The renames of {self.name} go in a circle: {' → '.join((*seen, following))}."
                )
            seen.append(following)
        return seen[-1]


class MarketplaceRow(Struct, frozen=True, omit_defaults=True):
    name: str
    source: str
    by: Literal["user", "settings"]
    plugins: int = 0
    commit: str | None = None
    problem: str | None = None


class MarketplaceRoll:
    """`trusted`: what the project's own settings name counts too."""

    def __init__(
        self, project: Project, env: Mapping[str, str], sources: PluginSources, *, trusted: bool
    ) -> None:
        self._project, self._env, self._sources, self._trusted = project, env, sources, trusted
        self._cache = PackageCache(env)
        self._admin = AdminLists(project)
        self._fresh: dict[str, Catalog] = {}

    @property
    def file(self) -> HomeFile[Records]:
        return HomeFile(
            Path(home_path(self._env), "plugins", "installed.json"), Records(), kind="plugins_unwritable"
        )

    def names(self) -> list[str]:
        return list(dict.fromkeys((*records(self._env).marketplaces, *dict(self._declared()))))

    def add(self, text: str) -> Catalog:
        """Add a marketplace by its address or path. Raises CheckreinError; then nothing has changed."""
        source = parse_source(text, self._project.place.cwd)
        catalog = self._fetched(source)
        before = records(self._env).marketplaces.get(catalog.name) or dict(self._declared()).get(catalog.name)
        if before is not None and _placed(before.source) != _placed(source):
            raise PolicyError(
                f"There is a marketplace {catalog.name} from elsewhere: {shown(before.source)}.",
                kind="marketplace_exists",
                hint=f"Remove it first: `checkrein plugin marketplace remove {catalog.name}`, or take it out "
                "of the settings.",
            )
        if before is None:
            require_distinct((*self.names(), catalog.name), "You would have a marketplace")
        self._keep(catalog)
        return catalog

    def update(self, name: str) -> Catalog:
        """Fetch a marketplace again. A catalogue that names itself otherwise is refused."""
        known = self._known(name)
        catalog = self._fetched(known.source)
        if catalog.name != name:
            raise PolicyError(
                f"The marketplace {name} now calls itself {catalog.name!r}.", kind="marketplace_renamed"
            )
        self._keep(catalog)
        return catalog

    def remove(self, name: str) -> None:
        known = records(self._env).marketplaces
        if name not in known:
            raise self._missing(name)
        used = [one for one in records(self._env).plugins if one.endswith(f"@{name}")]
        if used:
            raise PolicyError(
                f"{', '.join(used)} came from {name}.",
                kind="marketplace_used",
                hint=f"Remove it first: `checkrein plugin remove {used[0]}`.",
            )

        def without(kept: Records) -> Records:
            left = {key: one for key, one in kept.marketplaces.items() if key != name}
            return replace(kept, marketplaces=left)

        self.file.change(without)

    def rows(self) -> Iterator[MarketplaceRow]:
        """What is known, without the network."""
        own = records(self._env).marketplaces
        for name in self.names():
            known = self._known(name)
            by: Literal["user", "settings"] = "user" if name in own else "settings"
            if known.source.get("source") not in _LOCAL and known.hash is None:
                yield MarketplaceRow(name, shown(known.source), by, problem="not fetched yet")
                continue
            try:
                catalog = self._read(known)
            except (UnsafePackageError, PolicyError, UsageError) as error:
                yield MarketplaceRow(name, shown(known.source), by, problem=error.message)
                continue
            yield MarketplaceRow(name, shown(known.source), by, len(catalog.listed.entries), known.commit)

    def catalog(self, name: str) -> Catalog:
        """The catalogue of a marketplace; fetched when only settings name it so far."""
        if name not in self._fresh:
            known = self._known(name)
            self._admin.require_marketplace(known.source)
            local = known.source.get("source") in _LOCAL or known.hash is not None
            self._fresh[name] = self._read(known) if local else self._fetched(known.source)
            if not local:
                self._keep(self._fresh[name])
        return self._fresh[name]

    def at_commit(self, source: Mapping[str, Any], commit: str | None, hash: str | None = None) -> Catalog:
        """A marketplace as it was at a commit, for a lock. Nothing is kept."""
        if source.get("source") in _LOCAL:
            return self._read(Known(source=self._absolute(source)))
        pin = "version" if source.get("source") == "npm" else "sha"
        return self._fetched({**source, pin: commit} if commit else source)

    def _fetched(self, source: Mapping[str, Any]) -> Catalog:
        self._admin.require_marketplace({key: one for key, one in source.items() if key != "sha"})
        if source.get("source") in _LOCAL:
            return self._read(Known(source=dict(source)))
        with self._cache.staging() as staging:
            fetched = self._sources.marketplace(source, staging)
            _checked(self._parsed(fetched.directory, Known(source=dict(source))), source)
            hash = self._cache.put(fetched.directory)
        kept = {key: one for key, one in source.items() if key != "sha"}
        return self._read(Known(source=kept, hash=hash, commit=fetched.commit, left_out=fetched.left_out))

    def _read(self, known: Known) -> Catalog:
        kind = known.source.get("source")
        if known.hash is not None:
            root = self._cache.place(known.hash)
        elif kind == "directory":
            root = str(known.source["path"])
        else:
            root = os.path.dirname(os.path.dirname(str(known.source.get("path", ""))))
        return _checked(self._parsed(root, known), known.source)

    def _parsed(self, root: str, known: Known) -> Catalog:
        path = marketplaces.file_in(root)
        log = Log()
        inline = known.source.get("source") == "settings"
        document = (
            jsonfile.Document(dict(known.source), Origin(path, "user"))
            if inline
            else jsonfile.read(path, "user", log, optional=False)
        )
        listed = marketplaces.parse(document, log) if document is not None else None
        if document is None or listed is None:
            why = next((one.message for one in log if one.severity == "error"), f"there is no {path}")
            raise UnsafePackageError(
                f"{shown(known.source)} is not a marketplace: {why.rstrip('.')}.",
                kind="marketplace_invalid",
                hint=f"It needs {facts.MANIFEST_DIR}/{facts.MARKETPLACE_FILE}; `plugin validate` says more.",
            )
        raw = {str(one["name"]): one for one in document.value["plugins"] if _is_named(one)}
        home = Home(
            None if inline or known.source.get("source") == "url" else root,
            marketplaces.plugin_root(document),
            named_hosts(known.source),
            known.left_out,
            is_here(known.source),
        )
        return Catalog(listed.name, known, listed, raw, document.value, home)

    def _keep(self, catalog: Catalog) -> None:
        known = {catalog.name: catalog.known}
        self._fresh[catalog.name] = catalog
        self.file.change(lambda kept: replace(kept, marketplaces={**kept.marketplaces, **known}))

    def _known(self, name: str) -> Known:
        found = records(self._env).marketplaces.get(name) or dict(self._declared()).get(name)
        if found is None:
            raise self._missing(name)
        return found

    def _missing(self, name: str) -> NotFoundError:
        return NotFoundError(
            f"There is no marketplace {name!r}.{did_you_mean(name, self.names())}",
            kind="marketplace_not_found",
            hint="`checkrein plugin marketplace add SOURCE` adds one.",
        )

    def _declared(self) -> Iterator[tuple[str, Known]]:
        """`extraKnownMarketplaces`; those of an untrusted project do not count."""
        listed = self._project.setting("extraKnownMarketplaces")
        for name, entry in listed.items() if isinstance(listed, dict) else ():
            source = entry.get("source") if isinstance(entry, dict) else None
            if isinstance(source, dict) and (self._trusted or not self._is_projects(name)):
                yield name, Known(source=self._absolute(source))

    def _is_projects(self, name: str) -> bool:
        prefix = ("extraKnownMarketplaces",)
        from checkrein.dialects.claude.settings import undotted

        return any(
            one.origin.scope in ("project", "local") and undotted(one.name)[:2] == (*prefix, name)
            for one in self._project.sources.settings
        )

    def _absolute(self, source: Mapping[str, Any]) -> dict[str, Any]:
        path = source.get("path")
        if source.get("source") in _LOCAL and isinstance(path, str):
            return {**source, "path": os.path.join(self._project.place.root, os.path.expanduser(path))}
        return dict(source)


def parse_source(text: str, cwd: str) -> dict[str, Any]:
    """What a person writes for a marketplace: OWNER/NAME, an address, a path; `#REF` a branch or tag."""
    path = os.path.realpath(os.path.join(cwd, os.path.expanduser(text)))
    if not text:
        raise UsageError("Name the source of a marketplace.")
    if text.startswith((".", "/", "~")) or (os.path.isdir(path) and not _REPOSITORY.fullmatch(text)):
        if os.path.isdir(path):
            return {"source": "directory", "path": path}
        if os.path.isfile(path):
            return {"source": "file", "path": path}
        raise NotFoundError(f"{text} does not exist.", kind="marketplace_not_found")
    if text.startswith("npm:"):
        package, _, version = text[4:].partition("@") if not text[4:].startswith("@") else _scoped(text[4:])
        return {"source": "npm", "package": package, **({"version": version} if version else {})}
    address, _, ref = text.partition("#")
    ref_part = {"ref": ref} if ref else {}
    if "://" not in address and "@" in address and not address.startswith("git@"):
        address, _, ref = address.partition("@")
        ref_part = {"ref": ref}
    if _REPOSITORY.fullmatch(address):
        return {"source": "github", "repo": address, **ref_part}
    if address.startswith(("https://", "http://")) and address.endswith(".json"):
        return {"source": "url", "url": address}
    if "://" in address or address.startswith("git@"):
        return {"source": "git", "url": address, **ref_part}
    raise UsageError(
        f"{text!r} is not a source of a marketplace.",
        hint="Write OWNER/NAME, an address, a path, or npm:PACKAGE.",
    )


def _scoped(text: str) -> tuple[str, str, str]:
    scope, slash, rest = text.partition("/")
    name, at, version = rest.partition("@")
    return f"{scope}{slash}{name}", at, version


def _placed(source: Mapping[str, Any]) -> dict[str, Any]:
    path = source.get("path")
    return {**source, "path": os.path.realpath(path)} if isinstance(path, str) else dict(source)


def _is_named(entry: Any) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("name"), str)


def _checked(catalog: Catalog, source: Mapping[str, Any]) -> Catalog:
    require_plain(catalog.name, "marketplace")
    require_own_name(catalog.name, source)
    require_distinct((entry.name for entry in catalog.listed.entries), "The marketplace has a plugin")
    return catalog
