"""Marketplaces: `.claude-plugin/marketplace.json`, its entries and where each plugin comes from."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from checkrein.base.jsonpos import join
from checkrein.dialects.codes import Log, diagnose
from checkrein.dialects.jsonfile import Document
from checkrein.facts import claude_plugins as facts
from checkrein.model.items import Marketplace, PluginEntry


def file_in(directory: str) -> str:
    return os.path.join(directory, facts.MANIFEST_DIR, facts.MARKETPLACE_FILE)


def parse(document: Document, log: Log) -> Marketplace | None:
    values = document.value
    name, plugins = values.get("name"), values.get("plugins")
    owner = values.get("owner")
    if not isinstance(name, str) or not name or not isinstance(plugins, list):
        log.append(diagnose("MARKET001", "A marketplace needs `name` and a list `plugins`", document.at("$")))
        return None
    if not isinstance(owner, dict):
        log.append(diagnose("MARKET001", "A marketplace needs an `owner` with a `name`", document.at("$")))
    metadata = values.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    description = values.get("description", metadata.get("description"))
    entries = [
        entry
        for index, item in enumerate(plugins)
        if (entry := _entry(item, join("$.plugins", index), metadata, document, log)) is not None
    ]
    return Marketplace(
        name=name,
        origin=document.origin,
        spans=document.below("$"),
        unknown={key: value for key, value in values.items() if key not in facts.MARKETPLACE_KEYS},
        owner=owner if isinstance(owner, dict) else {},
        entries=tuple(entries),
        description=description if isinstance(description, str) else None,
    )


def _entry(
    item: Any, path: str, metadata: Mapping[str, Any], document: Document, log: Log
) -> PluginEntry | None:
    place = document.at(path)
    if not isinstance(item, dict) or not isinstance(item.get("name"), str):
        log.append(diagnose("MARKET002", "An entry of `plugins` needs a `name`", place))
        return None
    name = item["name"]
    kind, source, problem = source_of(item.get("source"), metadata.get("pluginRoot"))
    if problem is not None:
        message = f"The source of `{name}` {problem}; it can't be installed"
        log.append(diagnose("MARKET002", message, document.at(path + ".source")))
    version, description = item.get("version"), item.get("description")
    return PluginEntry(
        name=name,
        origin=place,
        spans=document.below(path),
        unknown={key: value for key, value in item.items() if key not in facts.ENTRY_KEYS},
        source_kind=kind,
        source=source,
        version=version if isinstance(version, str) else None,
        description=description if isinstance(description, str) else None,
        strict=item.get("strict") is not False,
    )


def source_of(value: Any, plugin_root: Any = None) -> tuple[str, dict[str, Any], str | None]:
    """(kind, fields, problem) of a plugin source; a path is the kind `path`."""
    if isinstance(value, str):
        return "path", {"path": value}, _path_problem(value, plugin_root)
    if not isinstance(value, dict):
        return "unknown", {}, "is missing" if value is None else "must be a path or an object"
    kind = value.get("source")
    fields = {key: item for key, item in value.items() if key != "source"}
    known = facts.SOURCE_KINDS.get(kind) if isinstance(kind, str) and kind != "path" else None
    if known is None:
        return str(kind), fields, f"has the unknown kind `{kind}`"
    lacking = [key for key in known[0] if not isinstance(fields.get(key), str) or not fields[key]]
    return str(kind), fields, f"of kind `{kind}` needs `{lacking[0]}`" if lacking else None


def _path_problem(path: str, plugin_root: Any) -> str | None:
    if ".." in path.split("/"):
        return "holds `..`"
    if path in (".", "./") or path.startswith("./") or isinstance(plugin_root, str):
        return None
    return f"must start with `./` (`{path}`)"


def local_root(entry: PluginEntry, marketplace_root: str, plugin_root: Any = None) -> str | None:
    """The directory of an entry inside the marketplace, if it exists."""
    if entry.source_kind != "path":
        return None
    written = str(entry.source.get("path", ""))
    base = marketplace_root
    if isinstance(plugin_root, str) and not written.startswith("./"):
        base = os.path.join(marketplace_root, plugin_root)
    real = os.path.realpath(os.path.join(base, written))
    root = os.path.realpath(marketplace_root)
    inside = real == root or real.startswith(root + os.sep)
    return real if inside and os.path.isdir(real) else None


def plugin_root(document: Document | None) -> Any:
    """`metadata.pluginRoot`: the folder below which entries without `./` lie."""
    metadata = document.value.get("metadata") if document else None
    return metadata.get("pluginRoot") if isinstance(metadata, dict) else None
