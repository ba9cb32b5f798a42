"""`allowedMcpServers` and `deniedMcpServers`: which servers they let through.

Both sides are compared with `${VAR}` replaced. A list knows only the environment that the program started
with. A server also gets the `env` of settings, which may count or not: a deny holds if it fits any reading of
the entry, an allow only if it fits all of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from checkrein.base.origin import BOUND_SCOPES
from checkrein.dialects.servers import expand
from checkrein.facts.mcp import PLUGIN_ROOT_ENV, PROJECT_DIR_ENV
from checkrein.model.items import Server
from checkrein.model.project import Effective

_DEFAULT_PORTS = {"https": ":443", "http": ":80"}


class Surroundings(Struct, frozen=True, kw_only=True):
    """What `${VAR}` may mean: `env` is the environment at the start of the program."""

    env: Mapping[str, str]
    root: str
    plugin_roots: Mapping[str, str] = {}


class Endpoint(Struct, frozen=True):
    """What a server is, whatever its name: the words of a command, or an address."""

    argv: tuple[str, ...] = ()
    url: str = ""

    @property
    def exists(self) -> bool:
        return bool(self.argv or self.url)


class Lists:
    def __init__(self, settings: Mapping[str, Effective], around: Surroundings) -> None:
        managed_only = _value(settings, "allowManagedMcpServersOnly") is True
        self._denied = _entries(settings, "deniedMcpServers") or []
        self._allowed = _entries(settings, "allowedMcpServers", managed_only=managed_only)
        self._around = around
        self._environments = _environments(settings, around.env)

    def refusal(self, server: Server) -> str | None:
        if not self._denied and self._allowed is None:
            return None
        readings = [self._endpoint(server, env) for env in self._environments]
        if any(self._matches(entry, server, one) for entry in self._denied for one in readings):
            return "`deniedMcpServers` names it"
        if self._allowed is None or all(self._is_allowed(self._allowed, server, one) for one in readings):
            return None
        return "`allowedMcpServers` does not name it"

    def endpoint(self, server: Server) -> Endpoint:
        """As a session most likely reads the entry."""
        return self._endpoint(server, self._environments[-1])

    def _endpoint(self, server: Server, env: Mapping[str, str]) -> Endpoint:
        known = {PROJECT_DIR_ENV: self._around.root, **env}
        plugin_root = self._around.plugin_roots.get(server.plugin or "")
        if plugin_root is not None:
            known[PLUGIN_ROOT_ENV] = plugin_root
        if server.transport == "stdio":
            words = (server.command, *server.args) if server.command else ()
            return Endpoint(tuple(expand(word, known) for word in words))
        return Endpoint(url=_plain(expand(server.url or "", known)))

    def _is_allowed(self, entries: Sequence[Mapping[str, Any]], server: Server, endpoint: Endpoint) -> bool:
        """An address needs an entry with an address, a command one with a command. Names count only where
        the list has no such entry."""
        key = "serverCommand" if server.transport == "stdio" else "serverUrl"
        if any(key in entry for entry in entries):
            return any(key in entry and self._fits(entry, endpoint) for entry in entries)
        return any(entry.get("serverName") == server.name for entry in entries)

    def _matches(self, entry: Mapping[str, Any], server: Server, endpoint: Endpoint) -> bool:
        return entry.get("serverName") == server.name or self._fits(entry, endpoint)

    def _fits(self, entry: Mapping[str, Any], endpoint: Endpoint) -> bool:
        pattern, command = entry.get("serverUrl"), entry.get("serverCommand")
        if isinstance(pattern, str) and endpoint.url:
            return _url_matches(expand(pattern, self._around.env), endpoint.url)
        if isinstance(command, list) and endpoint.argv:
            words = [expand(word, self._around.env) if isinstance(word, str) else word for word in command]
            return words == list(endpoint.argv)
        return False


def _url_matches(pattern: str, url: str) -> bool:
    """`*` means any text, in the host any part of the host. A pattern without a path fits any path."""
    scheme, host, rest = _parts(_plain(pattern if "://" in pattern else f"*://{pattern}"))
    wanted = (scheme, host, "*" if rest in ("", "/") else rest)
    return all(_text_matches(part, found) for part, found in zip(wanted, _parts(url), strict=True))


def _text_matches(pattern: str, text: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), text, re.DOTALL) is not None


def _plain(url: str) -> str:
    """Without what does not change where an address leads: case, user, a last dot, the usual port."""
    scheme, host, rest = _parts(url.strip())
    if not host:
        return url
    host = host.rpartition("@")[2].removesuffix(_DEFAULT_PORTS.get(scheme, "\0"))
    return f"{scheme}://{host.removesuffix('.')}{rest}"


def _parts(url: str) -> tuple[str, str, str]:
    scheme, _, after = url.partition("://")
    end = re.search(r"[/?#\\]", after)
    cut = end.start() if end else len(after)
    return scheme.lower(), after[:cut].lower(), after[cut:]


def _environments(settings: Mapping[str, Effective], env: Mapping[str, str]) -> list[Mapping[str, str]]:
    """What a server may get: the plain environment, the user's own `env` too, the project's too."""
    own: dict[str, str] = {}
    every: dict[str, str] = {}
    for name, effective in settings.items():
        if not name.startswith("env.") or isinstance(effective.value, dict):
            continue
        key = name.removeprefix("env.")
        every[key] = str(effective.value)
        theirs = (one.item for one in effective.candidates if one.item.origin.scope not in BOUND_SCOPES)
        first = next(theirs, None)
        if first is not None:
            own[key] = str(first.value)
    readings: list[Mapping[str, str]] = [env]
    for added in (own, every):
        if added and {**env, **added} not in readings:
            readings.append({**env, **added})
    return readings


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


def _value(settings: Mapping[str, Effective], key: str) -> Any:
    found = settings.get(key)
    return None if found is None else found.value
