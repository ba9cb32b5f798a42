"""Hooks and MCP servers of other agents, from their JSON files to our items."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import structs

from checkrein.base.jsonpos import join
from checkrein.base.origin import Origin, Span
from checkrein.dialects import hooks, jsonfile, servers
from checkrein.dialects.codes import Log
from checkrein.dialects.dialect import Tree
from checkrein.dialects.generic.readers import full_path, placed
from checkrein.dialects.generic.tools import read_tool
from checkrein.dialects.jsonfile import Document
from checkrein.facts.agents import Target, comments_in
from checkrein.model.items import Hook, Server

_ENTRY = re.compile(r"""\$\.hooks(?:\.\w+|\["(?:[^"\\]|\\.)*"\])\[\d+\]""")
"""The path of one entry of one event."""


def document(tree: Tree, path: str, root: str, log: Log) -> Document | None:
    """The JSON object in `path`; None when there is none or it is broken (the log says so)."""
    if path not in tree:
        return None
    return jsonfile.parse(tree[path], Origin(full_path(root, path), "project"), log, comments_in(path))


def documents(tree: Tree, places: Iterable[str], root: str, log: Log) -> Iterator[Document]:
    """The JSON objects at these places that can be read."""
    for path, _ in placed(tree, places):
        found = document(tree, path, root, log)
        if found is not None:
            yield found


def read_hook_files(tree: Tree, root: str, target: Target, log: Log) -> list[Hook]:
    files = documents(tree, target.files.hooks, root, log)
    return [hook for file in files for hook in read_hooks(file, target, log)]


def read_server_files(tree: Tree, key: str, root: str, target: Target, log: Log) -> list[Server]:
    files = documents(tree, target.files.servers, root, log)
    return [server for file in files for server in read_servers(file, key, target, log)]


def read_servers(found: Document, key: str, target: Target, log: Log) -> list[Server]:
    """The servers under `key`, with their references spelled `${NAME}`."""
    listed = found.value.get(key)
    if not isinstance(listed, dict):
        return []
    result = []
    for name, entry in listed.items():
        if isinstance(entry, dict):
            path = join(join("$", key), str(name))
            ours = our_entry(entry, target)
            server = servers.read_entry(str(name), ours, found.origin, path, found.spans, log)
            if server is not None:
                result.append(server)
    return result


def our_entry(entry: Mapping[str, Any], target: Target) -> dict[str, Any]:
    """One entry with the keys of `.mcp.json`."""
    ours = dict(entry)
    if target.dialect == "opencode":
        ours = _opencode(ours)
    elif target.dialect == "gemini":
        if "httpUrl" in ours:
            ours = {"type": "http", "url": ours.pop("httpUrl"), **ours}
        elif "url" in ours:
            ours = {"type": "sse", **ours}
    elif target.dialect == "codex":
        ours = _codex(ours)
    elif "url" in ours and "type" not in ours:
        ours = {"type": "http", **ours}
    unspelled: dict[str, Any] = _unspell(ours, target)
    return unspelled


def _opencode(entry: dict[str, Any]) -> dict[str, Any]:
    kind = entry.pop("type", "local")
    if entry.get("enabled") is True:
        del entry["enabled"]
    if kind == "remote":
        return {"type": "http", **entry}
    command = entry.pop("command", [])
    if isinstance(command, list) and command:
        entry = {"command": command[0], **({"args": command[1:]} if len(command) > 1 else {}), **entry}
    if "environment" in entry:
        entry["env"] = entry.pop("environment")
    return entry


def _codex(entry: dict[str, Any]) -> dict[str, Any]:
    if "url" in entry:
        entry = {"type": "http", **entry}
    passed = entry.pop("env_vars", None)
    if isinstance(passed, list):
        entry["env"] = {**{str(name): f"${{{name}}}" for name in passed}, **(entry.get("env") or {})}
    headers = dict(entry.pop("http_headers", None) or {})
    for header, variable in (entry.pop("env_http_headers", None) or {}).items():
        headers[str(header)] = f"${{{variable}}}"
    token = entry.pop("bearer_token_env_var", None)
    if token:
        headers = {"Authorization": f"Bearer ${{{token}}}", **headers}
    if headers:
        entry["headers"] = headers
    seconds = entry.pop("tool_timeout_sec", None)
    if isinstance(seconds, int | float):
        entry["timeout"] = int(seconds * 1000)
    return entry


def _unspell(value: Any, target: Target) -> Any:
    """`${env:NAME}` and `{env:NAME}` as `${NAME}`."""
    if isinstance(value, str):
        if target.env.startswith("${{env:"):
            return re.sub(r"\$\{env:(\w+)\}", r"${\1}", value)
        if target.env.startswith("{{env:"):
            return re.sub(r"\{env:(\w+)\}", r"${\1}", value)
        return value
    if isinstance(value, dict):
        return {key: _unspell(item, target) for key, item in value.items()}
    if isinstance(value, list):
        return [_unspell(item, target) for item in value]
    return value


def read_hooks(found: Document, target: Target, log: Log) -> list[Hook]:
    """The hooks of a file, with our event and tool names and seconds."""
    form = target.hooks
    listed = found.value.get("hooks")
    if form is None or not isinstance(listed, dict):
        return []
    ours_by_theirs = {theirs: ours for ours, theirs in form.events.items()}
    grouped: dict[str, Any] = {}
    for event, entries in listed.items():
        grouped[ours_by_theirs.get(str(event), str(event))] = (
            [_our_group(entry, target) for entry in entries if isinstance(entry, dict)]
            if isinstance(entries, list)
            else entries
        )
    place = found.origin.at(found.spans.get("$.hooks"))
    hooks_found = hooks.read(grouped, place, log, spans=_our_places(found.spans, listed, ours_by_theirs))
    divisor = 1000 if form.timeout_unit == "ms" else 1
    return [
        structs.replace(hook, timeout=None if hook.timeout is None else hook.timeout / divisor)
        for hook in hooks_found
    ]


def _our_places(
    spans: Mapping[str, Span], listed: Mapping[str, Any], ours_by_theirs: Mapping[str, str]
) -> dict[str, Span]:
    """The places of handlers by their paths after events are renamed and handlers are grouped."""
    renamed: dict[str, str] = {}
    for event, entries in listed.items():
        ours = join("$.hooks", ours_by_theirs.get(str(event), str(event)))
        for number, entry in enumerate(entries if isinstance(entries, list) else ()):
            grouped = isinstance(entry, dict) and "hooks" in entry
            start = join(join("$.hooks", str(event)), number)
            renamed[start] = join(ours, number) + ("" if grouped else ".hooks[0]")
    found: dict[str, Span] = {}
    for path, span in spans.items():
        entry_path = _ENTRY.match(path)
        if entry_path and entry_path[0] in renamed:
            found[renamed[entry_path[0]] + path[entry_path.end() :]] = span
    return found


def _our_group(entry: dict[str, Any], target: Target) -> dict[str, Any]:
    form = target.hooks
    assert form is not None
    matcher = entry.get("matcher")
    if isinstance(matcher, str) and target.dialect != "codex" and matcher not in ("", "*"):
        matcher = "|".join(read_tool(name, target) for name in matcher.split("|"))
    if "hooks" in entry:
        group = {key: value for key, value in entry.items() if key not in ("matcher", "hooks")}
        handlers = entry["hooks"]
    else:
        handler = {key: value for key, value in entry.items() if key != "matcher"}
        if "bash" in handler:
            handler = {"command": handler.pop("bash"), **handler}
        if form.timeout in handler:
            handler["timeout"] = handler.pop(form.timeout)
        handlers, group = [{"type": "command", **handler}], {}
    return {**({"matcher": matcher} if matcher is not None else {}), "hooks": handlers, **group}
