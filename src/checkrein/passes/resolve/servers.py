"""Which MCP servers are in effect: precedence, managed exclusiveness, allow and deny lists."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from checkrein.base.origin import Scope
from checkrein.dialects.servers import expand
from checkrein.facts import claude
from checkrein.model.items import Server
from checkrein.model.project import Candidate, Effective, Resolved
from checkrein.passes.resolve.names import by_name, scope_reason

_FILLED = ("serverUrl", "serverCommand")
ORDER: Mapping[Scope, int] = {
    "managed": 0,
    "cli": 1,
    "local": 2,
    "project": 3,
    "user": 4,
    "plugin": 5,
    "bundled": 6,
}


def servers(
    items: Sequence[Server], settings: Mapping[str, Effective]
) -> tuple[dict[str, Resolved[Server]], list[Candidate[Server]]]:
    """(in effect by name, switched off with the reason)."""
    exclusive = any(_is_managed_file(server) for server in items)
    active: list[Server] = []
    off: list[Candidate[Server]] = []
    for server in items:
        reason = _refusal(server, exclusive, settings)
        if reason is None:
            active.append(server)
        else:
            off.append(Candidate(server, reason))
    return by_name(active, lambda server: ORDER[server.origin.scope], scope_reason), off


def _refusal(server: Server, exclusive: bool, settings: Mapping[str, Effective]) -> str | None:
    if exclusive and not _is_managed_file(server):
        return f"{claude.MANAGED_MCP_FILE} exists, so only its servers count"
    if os.path.basename(server.origin.file) == claude.MCP_FILE and server.plugin is None:
        disabled = _listed(settings, "disabledMcpjsonServers")
        if server.name in disabled:
            return "`disabledMcpjsonServers` names it"
    return forbidden(server, settings)


def forbidden(
    server: Server, settings: Mapping[str, Effective], env: Mapping[str, str] | None = None
) -> str | None:
    """Why a list forbids a server as it is written, or as it starts: then `env` fills in the lists too."""
    denied = _entries(settings, "deniedMcpServers") or ()
    if any(_matches(_filled(entry, env), server) for entry in denied):
        return "`deniedMcpServers` names it"
    managed_only = _value(settings, "allowManagedMcpServersOnly") is True
    allowed = _entries(settings, "allowedMcpServers", managed_only=managed_only)
    if allowed is not None and not _is_allowed([_filled(entry, env) for entry in allowed], server):
        return "`allowedMcpServers` does not name it"
    return None


def _filled(entry: Mapping[str, Any], env: Mapping[str, str] | None) -> Mapping[str, Any]:
    if env is None:
        return entry

    def filled(value: Any) -> Any:
        if isinstance(value, list):
            return [filled(one) for one in value]
        return expand(value, env) if isinstance(value, str) else value

    return {key: filled(value) if key in _FILLED else value for key, value in entry.items()}


def _is_allowed(entries: Sequence[Mapping[str, Any]], server: Server) -> bool:
    """Remote servers need a matching URL, local ones a matching command; otherwise names count."""
    key = "serverUrl" if server.url and not server.command else "serverCommand"
    if any(key in entry for entry in entries):
        return any(key in entry and _matches(entry, server) for entry in entries)
    return any(_matches(entry, server) for entry in entries)


def _matches(entry: Mapping[str, Any], server: Server) -> bool:
    if entry.get("serverName") == server.name and "serverName" in entry:
        return True
    pattern = entry.get("serverUrl")
    if isinstance(pattern, str) and server.url:
        return _url_matches(pattern, server.url)
    command = entry.get("serverCommand")
    if isinstance(command, list) and server.command:
        return command == [server.command, *server.args]
    return False


def _url_matches(pattern: str, url: str) -> bool:
    """`*` means any text. The case of the host does not matter. A pattern without a path fits any path."""
    scheme, _, rest = pattern.partition("://")
    host, slash, path = rest.partition("/")
    expression = re.escape(f"{scheme}://{host.lower()}") + (
        re.escape(slash + path) if slash and path else "(?:/.*)?"
    )
    target_scheme, _, target_rest = url.partition("://")
    target_host, target_slash, target_path = target_rest.partition("/")
    target = f"{target_scheme}://{target_host.lower()}{target_slash}{target_path}"
    return re.fullmatch(expression.replace(r"\*", ".*"), target) is not None


def _is_managed_file(server: Server) -> bool:
    return (
        os.path.basename(server.origin.file) == claude.MANAGED_MCP_FILE and server.origin.scope == "managed"
    )


def _entries(
    settings: Mapping[str, Effective], key: str, *, managed_only: bool = False
) -> list[Mapping[str, Any]] | None:
    """The objects of a list, or None when no setting that counts has the list."""
    found = settings.get(key)
    items = [
        candidate.item
        for candidate in (found.candidates if found else ())
        if not candidate.lost and (not managed_only or candidate.item.origin.scope == "managed")
    ]
    return [item.value for item in items if isinstance(item.value, dict)] if items else None


def _listed(settings: Mapping[str, Effective], key: str) -> Iterable[Any]:
    value = _value(settings, key)
    return value if isinstance(value, list) else []


def _value(settings: Mapping[str, Effective], key: str) -> Any:
    found = settings.get(key)
    return None if found is None else found.value
