"""Plugin manifests: `.claude-plugin/plugin.json`, and the root `plugin.json` of Agent Plugins 1.0."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

from checkrein.base.origin import Origin
from checkrein.dialects import jsonfile
from checkrein.dialects.codes import Log, diagnose
from checkrein.dialects.jsonfile import Document
from checkrein.facts import claude_plugins as facts
from checkrein.facts import codex_plugins
from checkrein.model.items import Plugin

Format = Literal["claude", "agent_plugins", "codex", "none"]
_OPEN_NAME = re.compile(r"(?!.*(--|\.\.))[a-z0-9]([a-z0-9.-]{0,62}[a-z0-9])?")
_TEXTS = ("version", "description", "homepage", "license")


class Manifest(Struct, frozen=True):
    """What a plugin says about itself, checked. `values` are the manifest's members."""

    name: str
    values: Mapping[str, Any]
    document: Document
    format: Format


def read(root: str, log: Log, entry: Mapping[str, Any] | None = None) -> Manifest | None:
    """The manifest of the plugin in `root`; None, with the reason in `log`, when it can't be loaded.

    `entry` is the plugin's entry in a marketplace: it adds what the manifest lacks; with `strict: false` it
    is the whole manifest. A directory without a manifest gives the plugin its name.
    """
    own = os.path.join(root, facts.MANIFEST_DIR, facts.MANIFEST_FILE)
    if os.path.lexists(own):
        document = jsonfile.read(own, "plugin", log)
        return None if document is None else check(document, log, entry)
    open_file = os.path.join(root, facts.OPEN_MANIFEST)
    if os.path.isfile(open_file):
        document = jsonfile.read(open_file, "plugin", log)
        if document is None:
            return None
        if document.value.get("$schema") == facts.OPEN_SCHEMA:
            return check(document, log)
    codex = os.path.join(root, codex_plugins.MANIFEST_DIR, codex_plugins.MANIFEST_FILE)
    if os.path.isfile(codex):
        document = jsonfile.read(codex, "plugin", log)
        return None if document is None else _check_codex(document, log, entry)
    extra = _from_entry(entry)
    name = extra.get("name") or os.path.basename(root.rstrip(os.sep))
    return Manifest(str(name), extra, Document(dict(extra), Origin(root, "plugin")), "none")


def build(manifest: Manifest, root: str, *, marketplace: str | None, enabled: bool) -> Plugin:
    values = manifest.values
    texts = {key: values[key] for key in _TEXTS if isinstance(values.get(key), str)}
    known = facts.OPEN_MANIFEST_KEYS if manifest.format == "agent_plugins" else facts.MANIFEST_KEYS
    author = values.get("author")
    repository = values.get("repository")
    return Plugin(
        name=manifest.name,
        origin=manifest.document.origin,
        spans=manifest.document.below("$"),
        unknown={key: value for key, value in values.items() if key not in known},
        root=root,
        author=author if isinstance(author, dict) else {"name": author} if isinstance(author, str) else {},
        repository=repository.get("url") if isinstance(repository, dict) else repository,
        keywords=tuple(word for word in values.get("keywords") or () if isinstance(word, str)),
        dependencies=tuple(values.get("dependencies") or ()),
        user_config=values.get("userConfig") or {},
        format=manifest.format,
        marketplace=marketplace,
        enabled=enabled,
        **texts,
    )


def component(values: Mapping[str, Any], key: str) -> Any:
    """A component's value; `themes` and `monitors` may be under `experimental`."""
    if key in facts.EXPERIMENTAL_KEYS:
        experimental = values.get("experimental")
        if isinstance(experimental, dict) and key in experimental:
            return experimental[key]
    return values.get(key)


def check(document: Document, log: Log, entry: Mapping[str, Any] | None = None) -> Manifest | None:
    """The manifest in `document`, in the format that its schema names; None when the plugin can't load."""
    values = document.value
    if values.get("$schema") == facts.OPEN_SCHEMA:
        return _check_open(document, log)
    name = values.get("name")
    if not isinstance(name, str) or not name.strip():
        log.append(
            diagnose("PLUGIN001", "The manifest has no `name`; the plugin is not loaded", document.at("$"))
        )
        return None
    for key, value in values.items():
        types = facts.MANIFEST_KEYS.get(key)
        if types is None or isinstance(value, types):
            continue
        place = document.at(f"$.{key}")
        expected = " or ".join(_JSON_NAMES[wanted] for wanted in types)
        if key in facts.LENIENT_KEYS:
            log.append(diagnose("PLUGIN005", f"`{key}` must be {expected}; it is ignored", place))
        else:
            message = f"`{key}` must be {expected}; the plugin `{name}` is not loaded"
            log.append(diagnose("PLUGIN001", message, place))
            return None
    merged: Mapping[str, Any] = values
    if entry is not None:
        whole = entry.get("strict") is False
        merged = {**_from_entry(entry), "name": name} if whole else {**_from_entry(entry), **values}
    return Manifest(name.strip(), merged, document, "claude")


def _check_open(document: Document, log: Log) -> Manifest | None:
    name = document.value.get("name")
    if not isinstance(name, str) or not _OPEN_NAME.fullmatch(name):
        message = "`name` must be 1 to 64 lowercase letters, digits, `.` and `-`; the plugin is not loaded"
        log.append(diagnose("PLUGIN001", message, document.at("$.name")))
        return None
    from checkrein.dialects.claude.open_plugins import wrong_key

    wrong = wrong_key(document.value)
    if wrong is not None:
        message = f"`{wrong}` has the wrong type; the plugin is not loaded"
        log.append(diagnose("PLUGIN001", message, document.at(f"$.{wrong}")))
        return None
    for key in document.value:
        if key not in facts.OPEN_MANIFEST_KEYS:
            message = f"`{key}` is not a key of an Agent Plugins manifest; it is ignored"
            log.append(diagnose("PLUGIN005", message, document.at(f"$.{key}")))
    return Manifest(name, document.value, document, "agent_plugins")


def _check_codex(document: Document, log: Log, entry: Mapping[str, Any] | None) -> Manifest | None:
    """A manifest of Codex. Its paths lead from the plugin's root; what only Codex knows is ignored."""
    name = document.value.get("name")
    if not isinstance(name, str) or not name.strip():
        message = "The manifest has no `name`; the plugin is not loaded"
        log.append(diagnose("PLUGIN001", message, document.at("$")))
        return None
    known = {
        key: value
        for key, value in document.value.items()
        if key in facts.MANIFEST_KEYS and isinstance(value, facts.MANIFEST_KEYS[key])
    }
    return Manifest(name.strip(), {**_from_entry(entry), **known}, document, "codex")


def _from_entry(entry: Mapping[str, Any] | None) -> dict[str, Any]:
    """The manifest fields of a marketplace entry, those of the right type."""
    if entry is None:
        return {}
    return {
        key: value
        for key, value in entry.items()
        if key in facts.MANIFEST_KEYS and isinstance(value, facts.MANIFEST_KEYS[key])
    }


_JSON_NAMES: dict[type, str] = {str: "text", list: "a list", dict: "an object", bool: "true or false"}
