"""Take over what Claude Code has installed: the same files, from then on with a hash and a record."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from checkrein.base.errors import NotFoundError
from checkrein.base.nearest import did_you_mean
from checkrein.dialects import jsonfile
from checkrein.dialects.claude import plugins
from checkrein.dialects.claude.plugin_places import product_records
from checkrein.dialects.codes import Log
from checkrein.facts import claude
from checkrein.model.plugins import Installed, Known, Pinned, Records
from checkrein.runtime.plugins.capability_surface import of_plugin
from checkrein.runtime.plugins.installation import Installer
from checkrein.runtime.plugins.package_tree import UnsafePackageError, copy_tree
from checkrein.runtime.plugins.plugin_names import require_plain

_KINDS = {"github", "git", "url", "npm", "directory", "file"}


def foreign_plugins(installer: Installer) -> dict[str, Mapping[str, Any]]:
    """What Claude Code has installed for this user, by identity."""
    found: dict[str, Mapping[str, Any]] = {}
    for identity, entry in product_records(_base(installer)).items():
        for record in entry if isinstance(entry, list) else [entry]:
            if isinstance(record, dict) and isinstance(record.get("installPath"), str):
                found.setdefault(identity, record)
    return found


def adopt(installer: Installer, identity: str) -> Pinned:
    """Copy a plugin of Claude Code's into the cache and record it for the user. Its switches stay as they
    are."""
    known = foreign_plugins(installer)
    if identity not in known:
        near = did_you_mean(identity, known)
        raise NotFoundError(f"Claude Code has not installed {identity!r}.{near}", kind="plugin_not_found")
    record = known[identity]
    name, _, marketplace = identity.rpartition("@")
    require_plain(name, "plugin")
    require_plain(marketplace, "marketplace")
    with installer.cache.staging() as staging:
        target = os.path.join(staging, "files")
        copy_tree(os.path.realpath(record["installPath"]), target)
        hash = installer.cache.put(target)
    parts = plugins.read(installer.cache.place(hash), marketplace=marketplace)
    if not parts.plugins:
        why = next((one.message for one in parts.diagnostics), "it has no manifest")
        raise UnsafePackageError(f"The plugin can't be loaded: {why}", kind="plugin_invalid")
    source = _marketplace(installer, marketplace)
    commit = record.get("gitCommitSha")
    pinned = Pinned(
        hash=hash,
        version=parts.plugins[0].version or str(record.get("version", "unknown")),
        source={"source": "adopted"},
        commit=commit if isinstance(commit, str) else None,
        marketplace=source or {},
        capabilities=of_plugin(parts.plugins[0], parts),
    )

    def change(kept: Records) -> Records:
        others = tuple(one for one in kept.plugins.get(identity, ()) if one.scope != "user")
        mine = (*others, Installed(scope="user", pinned=pinned))
        marketplaces = dict(kept.marketplaces)
        if source is not None and marketplace not in marketplaces:
            marketplaces[marketplace] = Known(source=source)
        return replace(kept, plugins={**kept.plugins, identity: mine}, marketplaces=marketplaces)

    installer.roll.file.change(change)
    return pinned


def _base(installer: Installer) -> str:
    given = installer.env.get(claude.ENV_PLUGIN_ROOT)
    return given or os.path.join(installer.project.place.config_dir, "plugins")


def _marketplace(installer: Installer, name: str) -> dict[str, Any] | None:
    document = jsonfile.read(os.path.join(_base(installer), "known_marketplaces.json"), "user", Log())
    entry = document.value.get(name) if document is not None else None
    source = entry.get("source") if isinstance(entry, dict) else None
    return dict(source) if isinstance(source, dict) and source.get("source") in _KINDS else None
