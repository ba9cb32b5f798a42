"""The plugins that settings switch on or off, read from wherever they are installed."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from checkrein.base.origin import Origin
from checkrein.dialects.claude import plugins
from checkrein.dialects.claude.plugin_index import Wanted, read_all
from checkrein.dialects.claude.plugin_places import Places
from checkrein.dialects.codes import Log
from checkrein.model.project import Sources

Switch = tuple[str, bool, Origin]
"""A plugin's identity, whether it is on, and the setting that says so."""


def read(
    switches: Sequence[Switch], places: Places, env: Mapping[str, str], log: Log
) -> tuple[list[Sources], set[str]]:
    """The parts of each plugin, those of Checkrein's cache first; and the roots of the others."""
    cached: list[tuple[Wanted, Origin, str]] = []
    others: list[Sources] = []
    roots: set[str] = set()
    for identity, enabled, origin in switches:
        installed = places.find(identity, origin.scope, log)
        if installed is None or installed.root is None:
            others += [plugins.missing(identity, origin, locked=installed is not None)] if enabled else []
            continue
        wanted = Wanted(installed.root, identity.rpartition("@")[2], enabled, installed.entry)
        if installed.hash is not None:
            cached.append((wanted, origin, installed.hash))
            continue
        roots.add(os.path.realpath(installed.root))
        part = plugins.read(wanted.root, marketplace=wanted.marketplace, enabled=enabled, parts=enabled)
        others.append(_switched(part, origin, None))
    held = read_all([one for one, _, _ in cached], env)
    found = [
        _switched(part, origin, hash, wanted.entry)
        for part, (wanted, origin, hash) in zip(held, cached, strict=True)
    ]
    return [*found, *others], roots


def _switched(
    part: Sources, switch: Origin, hash: str | None, entry: Mapping[str, Any] | None = None
) -> Sources:
    added = dict(entry or {})
    known = tuple(replace(plugin, switch=switch, hash=hash, entry=added) for plugin in part.plugins)
    return replace(part, plugins=known)
