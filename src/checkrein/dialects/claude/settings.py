"""Settings files of every scope, and what they say: settings, permission rules, hooks, servers."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from checkrein.base.origin import COMMAND_LINE, Origin, Scope
from checkrein.dialects import jsonfile, scan
from checkrein.dialects.claude.place import main_checkout
from checkrein.dialects.codes import Log, diagnose
from checkrein.dialects.jsonfile import Document
from checkrein.facts import claude
from checkrein.facts.claude_settings import ADDED_DIR_KEYS
from checkrein.model.items import Hook, Server, Setting
from checkrein.model.project import Place, Sources
from checkrein.model.rule import VERDICTS, Rule, parse_rule

SettingSource = Literal["user", "project", "local"]
# Objects with user-defined members: each member is one value, never merged field by field.
_WHOLE = ("hooks", "mcpServers", "extraKnownMarketplaces")


def read_files(
    place: Place,
    log: Log,
    *,
    sources: Sequence[str] | None = None,
    given: Mapping[str, Any] | str | None = None,
) -> list[Document]:
    """The settings files in effect, highest first. `given` is `--settings`: an object or a file."""
    documents = [*_managed(place, log), *_given(given, place, log)]
    wanted = claude.SETTING_SOURCES if sources is None else sources
    if "local" in wanted:
        documents += _optional(_local_file(place, log), "local", log)
    project_file = file_of("project", place, log)
    if "project" in wanted and project_file is not None:
        documents += _optional(project_file, "project", log)
        documents += _added(place, log)
    if "user" in wanted:
        documents += _optional(_user_file(place), "user", log)
    return documents


def file_of(source: SettingSource, place: Place, log: Log) -> str | None:
    """Where the settings of one source are, whether or not the file exists.

    None for settings without their own place: the project's in the user's home.
    """
    if source == "user":
        return _user_file(place)
    if source == "local":
        return _local_file(place, log)
    path = os.path.join(place.cwd, claude.CONFIG_DIR, claude.SETTINGS_FILE)
    return path if path != _user_file(place) else None


def read_file(path: str, scope: Scope, place: Place, log: Log) -> Sources | None:
    """The source items of one settings file; None when it holds no JSON object."""
    document = jsonfile.read(path, scope, log)
    return None if document is None else items(document, place, log)


def items(document: Document, place: Place, log: Log) -> Sources:
    return Sources(
        settings=tuple(flatten(document)),
        rules=tuple(rules(document, place, log)),
        hooks=file_hooks(document, log),
        servers=file_servers(document, log),
    )


def _user_file(place: Place) -> str:
    return os.path.join(place.config_dir, claude.SETTINGS_FILE)


def _optional(path: str, scope: Scope, log: Log) -> list[Document]:
    document = jsonfile.read(path, scope, log)
    return [] if document is None else [document]


def _managed(place: Place, log: Log) -> list[Document]:
    """The base file and its drop-ins; a later drop-in outranks an earlier one."""
    if place.managed_dir is None:
        return []
    found = _optional(os.path.join(place.managed_dir, claude.MANAGED_SETTINGS_FILE), "managed", log)
    for entry in scan.listing(os.path.join(place.managed_dir, claude.MANAGED_DROPINS), "managed", log):
        if entry.name.endswith(".json") and not entry.name.startswith("."):
            found += _optional(entry.path, "managed", log)
    return found[::-1]


def _given(given: Mapping[str, Any] | str | None, place: Place, log: Log) -> list[Document]:
    if given is None:
        return []
    if not isinstance(given, str):
        return [Document(dict(given), Origin(COMMAND_LINE, "cli"))]
    if given.lstrip().startswith("{"):
        inline = jsonfile.parse(given, Origin(COMMAND_LINE, "cli"), log)
        return [] if inline is None else [inline]
    path = os.path.realpath(os.path.join(place.cwd, os.path.expanduser(given)))
    document = jsonfile.read(path, "cli", log, limit=claude.SETTINGS_FILE_BYTES, optional=False)
    return [] if document is None else [document]


def _local_file(place: Place, log: Log) -> str:
    """settings.local.json is at the repository's root; for a worktree, at the root of its main checkout."""
    here = os.path.join(place.cwd, claude.CONFIG_DIR, claude.LOCAL_SETTINGS_FILE)
    if place.repo_root is None or os.name == "nt":
        return here
    root = main_checkout(place.repo_root)
    if root == place.home or not _same_owner(root, place.cwd):
        return here
    there = os.path.join(root, claude.CONFIG_DIR, claude.LOCAL_SETTINGS_FILE)
    if there != here and os.path.lexists(here):
        message = (
            f"Claude Code does not read {claude.LOCAL_SETTINGS_FILE} here; local settings come from {there}"
        )
        log.append(diagnose("SET001", message, Origin(here, "local")))
    return there


def _same_owner(first: str, second: str) -> bool:
    try:
        return os.stat(first).st_uid == os.stat(second).st_uid
    except OSError:
        return False


def _added(place: Place, log: Log) -> list[Document]:
    """Settings of added directories, reduced to the keys that count there."""
    found = []
    for directory in place.add_dirs:
        path = os.path.join(directory, claude.CONFIG_DIR, claude.SETTINGS_FILE)
        for document in _optional(path, "project", log):
            kept = {key: value for key, value in document.value.items() if key in ADDED_DIR_KEYS}
            found.append(Document(kept, document.origin, document.spans))
    return found


def flatten(document: Document) -> Iterator[Setting]:
    """One Setting per leaf, and one per element of a list."""
    yield from _leaves(document.value, (), "$", document)


def _leaves(value: Any, keys: tuple[str, ...], path: str, document: Document) -> Iterator[Setting]:
    from checkrein.base.jsonpos import join

    if isinstance(value, dict) and (value or not keys) and not _is_whole(keys):
        for key, item in value.items():
            yield from _leaves(item, (*keys, str(key)), join(path, str(key)), document)
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            yield _setting(keys, item, join(path, index), document, element=True)
    else:
        yield _setting(keys, value, path, document)


def _is_whole(keys: tuple[str, ...]) -> bool:
    return len(keys) == 2 and keys[0] in _WHOLE


def _setting(
    keys: tuple[str, ...], value: Any, path: str, document: Document, *, element: bool = False
) -> Setting:
    from checkrein.base.secrets import is_sensitive

    secret = keys[0] == "env" or is_sensitive(keys[-1], value)
    return Setting(
        name=dotted(keys), value=value, origin=document.at(path), element=element, sensitive=secret
    )


def dotted(keys: Sequence[str]) -> str:
    """`a.b.c`; a key that holds a dot itself is written `["x.y"]`."""
    name = ""
    for key in keys:
        if "." in key or key.startswith("[") or not key:
            name += f'["{key}"]'
        else:
            name += f".{key}" if name else key
    return name


def undotted(name: str) -> tuple[str, ...]:
    """The keys of a dotted name."""
    keys: list[str] = []
    rest = name
    while rest:
        if rest.startswith('["') and '"]' in rest:
            key, _, rest = rest[2:].partition('"]')
            keys.append(key)
            rest = rest.removeprefix(".") if not rest.startswith(".[") else rest[1:]
            continue
        ends = [at for at in (rest.find("."), rest.find('["')) if at >= 0]
        end = min(ends, default=len(rest))
        keys.append(rest[:end])
        rest = rest[end:].removeprefix(".")
    return tuple(keys)


def rules(document: Document, place: Place, log: Log) -> Iterator[Rule]:
    """The permission rules of one file. What `/x` in a rule is relative to depends on the file."""
    from checkrein.base.jsonpos import join

    permissions = document.value.get("permissions")
    if permissions is None:
        return
    if not isinstance(permissions, dict):
        log.append(diagnose("SET002", "`permissions` must be an object", document.at("$.permissions")))
        return
    anchor = _anchor(document.origin, place)
    for behavior in VERDICTS:
        listed = permissions.get(behavior)
        path = f"$.permissions.{behavior}"
        if listed is None:
            continue
        if not isinstance(listed, list):
            log.append(diagnose("SET002", f"`permissions.{behavior}` must be a list", document.at(path)))
            continue
        for index, text in enumerate(listed):
            origin = document.at(join(path, index))
            if isinstance(text, str):
                yield parse_rule(text, behavior, origin, anchor=anchor)
            else:
                log.append(diagnose("SET002", f"A rule of `permissions.{behavior}` must be text", origin))


def given_rules(texts: Mapping[str, Sequence[str]], place: Place) -> Iterator[Rule]:
    """Rules of the command line: `{"allow": [...], "ask": [...], "deny": [...]}`."""
    for behavior in VERDICTS:
        for index, text in enumerate(texts.get(behavior, ())):
            origin = Origin(COMMAND_LINE, "cli", field=f"{behavior}[{index}]")
            yield parse_rule(text, behavior, origin, anchor=place.cwd)


def _anchor(origin: Origin, place: Place) -> str:
    if origin.scope == "user":
        return place.config_dir
    if origin.scope in ("managed", "cli") and origin.file != COMMAND_LINE:
        return os.path.dirname(origin.file)
    return place.cwd


def file_hooks(document: Document, log: Log) -> tuple[Hook, ...]:
    from checkrein.dialects import hooks

    written = document.value.get("hooks")
    return () if written is None else hooks.read(written, document.origin, log, spans=document.spans)


def file_servers(document: Document, log: Log) -> tuple[Server, ...]:
    from checkrein.dialects import servers

    written = document.value.get("mcpServers")
    return () if written is None else servers.read(written, document, "$.mcpServers", log)


def managed_memory(documents: Sequence[Document]) -> tuple[str, Origin] | None:
    """The managed `claudeMd` text, if there is one."""
    for document in documents:
        text = document.value.get("claudeMd")
        if document.origin.scope == "managed" and isinstance(text, str):
            return text, document.at("$.claudeMd")
    return None
