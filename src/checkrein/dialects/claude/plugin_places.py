"""Where the files of an enabled plugin are: as the lock says, as Checkrein or Claude Code installed it, or in
a local marketplace."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from checkrein.base.files import beneath
from checkrein.base.home import home_path
from checkrein.base.origin import Scope
from checkrein.dialects import jsonfile, scan
from checkrein.dialects.claude import marketplaces
from checkrein.dialects.codes import Log
from checkrein.dialects.jsonfile import Document
from checkrein.facts import claude
from checkrein.model.project import Place

if TYPE_CHECKING:
    from checkrein.model.plugins import Records

LOCK_FILE = "checkrein.lock"
_HASH = re.compile(r"sha256:([0-9a-f]{64})")


class Found(Struct, frozen=True):
    """A plugin's directory. `hash` is set in Checkrein's cache, where content never changes; `entry` is what
    a marketplace adds to the manifest. `root` None: `hash` is locked, and nobody installed it here."""

    root: str | None
    hash: str | None = None
    entry: Mapping[str, Any] | None = None


def cache_dir(env: Mapping[str, str] | None = None) -> str:
    return os.path.join(home_path(env), "plugins", "cache")


def content_dir(hash: str, cache: str) -> str | None:
    """The directory of a content in the cache, whether or not it exists; None for what is not a hash."""
    named = _HASH.fullmatch(hash)
    return os.path.join(cache, named[1]) if named else None


class Places:
    """Looks up plugins of one project. Each file of records is read once, when it is needed."""

    def __init__(self, place: Place, files: Sequence[Document], env: Mapping[str, str]) -> None:
        self._place = place
        self._files = files
        self._env = env
        self._base = env.get(claude.ENV_PLUGIN_ROOT) or os.path.join(place.config_dir, "plugins")
        self._cache = cache_dir(env)
        self._records: Records | None = None
        self._locked: dict[str, Any] | None = None
        self._product: dict[str, Any] | None = None

    def find(self, identity: str, scope: Scope, log: Log) -> Found | None:
        """`scope` is that of the setting that enables it: the lock of a project counts for its own."""
        name, _, marketplace = identity.rpartition("@")
        if not name or not is_plain(name) or not is_plain(marketplace):
            return None
        if scope in ("project", "local"):
            locked = self._lock().get(identity)
            if isinstance(locked, dict) and isinstance(locked.get("hash"), str):
                return self._content(locked["hash"], locked.get("entry"))
        own = self._own(identity, scope)
        if own is not None:
            return own
        root = (
            self._recorded(identity)
            or _cached(os.path.join(self._base, "cache", marketplace, name), log)
            or _in_marketplace(name, marketplace, self._base, self._files, self._place)
        )
        return Found(root) if root is not None else None

    def _own(self, identity: str, scope: Scope) -> Found | None:
        """The record of the scope itself comes before the user's for every project."""
        found = [
            one
            for one in self._own_records().plugins.get(identity, ())
            if one.project is None or one.project == self._place.root
        ]
        found.sort(key=lambda one: one.scope != scope)
        return self._content(found[0].pinned.hash, found[0].pinned.entry) if found else None

    def _own_records(self) -> Records:
        if self._records is None:
            self._records = records(self._env)
        return self._records

    def _content(self, hash: str, entry: Any) -> Found:
        root = content_dir(hash, self._cache)
        there = root is not None and os.path.isdir(root)
        return Found(root if there else None, hash, entry if isinstance(entry, dict) and entry else None)

    def _lock(self) -> dict[str, Any]:
        if self._locked is None:
            document = jsonfile.read(os.path.join(self._place.root, LOCK_FILE), "project", Log())
            section = document.value.get("plugins") if document else None
            installed = section.get("installed") if isinstance(section, dict) else None
            self._locked = installed if isinstance(installed, dict) else {}
        return self._locked

    def _recorded(self, identity: str) -> str | None:
        if self._product is None:
            self._product = product_records(self._base)
        entry: Any = self._product.get(identity)
        for record in entry if isinstance(entry, list) else [entry]:
            path = record.get("installPath") if isinstance(record, dict) else None
            if isinstance(path, str) and "\0" not in path and os.path.isdir(path):
                return os.path.realpath(path)
        return None


def records(env: Mapping[str, str] | None = None) -> Records:
    """What Checkrein has installed for this user; nothing when the file is broken or others can write it."""
    path = os.path.join(home_path(env), "plugins", "installed.json")
    from checkrein.model.plugins import Records

    if not os.path.lexists(path):
        return Records()
    from pathlib import Path

    from checkrein.base.home_file import HomeFile

    return HomeFile(Path(path), Records(), kind="plugins_unwritable").read()[0]


def product_records(base: str) -> dict[str, Any]:
    """The plugins that Claude Code has installed, by identity, as its file says."""
    document = jsonfile.read(os.path.join(base, "installed_plugins.json"), "user", Log())
    listed = document.value.get("plugins") if document else None
    return listed if isinstance(listed, dict) else {}


def is_plain(name: str) -> bool:
    """Whether a name can be a folder's."""
    return bool(name) and name not in (".", "..") and not re.search(r"[/\\\0]", name)


def _cached(directory: str, log: Log) -> str | None:
    """The newest version in the product's cache."""
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
                return marketplaces.local_root(entry, root, marketplaces.plugin_root(document))
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
