"""Manifests of plugins and marketplaces as written, for the parts that the model does not keep."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from checkrein.base.origin import Origin, Span
from checkrein.facts.claude_plugins import MANIFEST_DIR, MANIFEST_FILE
from checkrein.model.items import Marketplace, Plugin, PluginEntry
from checkrein.passes.checks.check import Subject


def manifest_values(subject: Subject, plugin: Plugin) -> Mapping[str, Any]:
    """The plugin's own manifest; empty for a plugin without one and for other formats."""
    return own_manifest(subject, plugin.root) if plugin.format == "claude" else {}


def own_manifest(subject: Subject, root: str) -> Mapping[str, Any]:
    found = subject.json(os.path.join(root, MANIFEST_DIR, MANIFEST_FILE))
    return found.value if found is not None and isinstance(found.value, dict) else {}


def key_origin(subject: Subject, origin: Origin, path: str) -> Origin:
    """The place of a JSON path in the file of `origin`, or its first line."""
    found = subject.json(origin.file)
    span = found.spans.get(path) if found is not None else None
    return origin.at(span or Span(1), path)


def entry_root(subject: Subject, marketplace: Marketplace, entry: PluginEntry) -> str | None:
    """Where an entry's own path leads; None for entries from elsewhere."""
    if entry.source_kind != "path":
        return None
    root = os.path.dirname(os.path.dirname(marketplace.origin.file))
    written = str(entry.source.get("path", ""))
    found = subject.json(marketplace.origin.file)
    metadata = found.value.get("metadata") if found is not None else None
    base = metadata.get("pluginRoot") if isinstance(metadata, dict) else None
    if isinstance(base, str) and not written.startswith("./"):
        root = os.path.join(root, base)
    return os.path.normpath(os.path.join(root, written))
