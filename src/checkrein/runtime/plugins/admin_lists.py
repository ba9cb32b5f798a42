"""What an administrator lets users install: marketplaces that are known or blocked, commands, side loading.

Only managed settings count. Judged before anything is fetched.
"""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from checkrein.base.errors import PolicyError
from checkrein.base.origin import Origin
from checkrein.model.project import Project

_EXACT = ("ref", "path")
_SCP = re.compile(r"(?:[\w.-]+@)?([\w.-]+):(?!/)(.+)")


class AdminLists:
    def __init__(self, project: Project) -> None:
        self._project = project

    def require_marketplace(self, source: Mapping[str, Any]) -> None:
        """Raise PolicyError when the lists refuse this source of a marketplace."""
        blocked = self._entries("blockedMarketplaces")
        if blocked is not None and any(_matches(one, source, wide=True) for one, _ in blocked):
            self._refuse("blockedMarketplaces", "names it", source)
        known = self._entries("strictKnownMarketplaces")
        if known is not None and not any(_matches(one, source) for one, _ in known):
            self._refuse("strictKnownMarketplaces", "does not name it", source)

    @property
    def names_marketplaces(self) -> bool:
        """Whether there is a list of the marketplaces that may be used."""
        return self._entries("strictKnownMarketplaces") is not None

    def require_commands(self) -> None:
        """Raise PolicyError when plugins may not come from commands."""
        if self._managed("disableCommandPluginSources") is True:
            raise self._refusal("`disableCommandPluginSources` forbids plugins that come from a command.")

    def require_side_loads(self) -> None:
        """Raise PolicyError when `--plugin-dir` and `--plugin-url` may not be used."""
        if self._managed("disableSideloadFlags") is True:
            raise self._refusal("`disableSideloadFlags` forbids --plugin-dir and --plugin-url.")

    def require_plugin(self, identity: str) -> None:
        """Raise PolicyError when managed settings switch the plugin off for everybody."""
        listed = self._managed("enabledPlugins")
        if isinstance(listed, dict) and listed.get(identity) is False:
            raise self._refusal(f"Managed settings forbid the plugin {identity}.")

    def _managed(self, key: str) -> Any:
        """The value from managed settings alone."""
        found: dict[str, Any] = {}
        for setting in self._project.sources.settings:
            if setting.origin.scope == "managed" and setting.name == key:
                return setting.value
            if setting.origin.scope == "managed" and setting.name.startswith((f"{key}.", f'{key}["')):
                inner = setting.name[len(key) :].lstrip(".").removeprefix('["').removesuffix('"]')
                found[inner] = setting.value
        return found or None

    def _entries(self, key: str) -> list[tuple[Any, Origin]] | None:
        """The elements of a managed list; None when there is no such list, empty when it is."""
        own = [one for one in self._project.sources.settings if one.name == key]
        managed = [one for one in own if one.origin.scope == "managed"]
        if not managed:
            return None
        return [(one.value, one.origin) for one in managed if one.element]

    def _refuse(self, key: str, how: str, source: Mapping[str, Any]) -> None:
        raise self._refusal(f"`{key}` {how}: {shown(source)}.")

    def _refusal(self, message: str) -> PolicyError:
        origin = next(
            (one.origin for one in self._project.sources.settings if one.origin.scope == "managed"), None
        )
        return PolicyError(
            message, kind="refused_by_administrator", hint="Ask your administrator.", origin=origin
        )


def shown(source: Mapping[str, Any]) -> str:
    """A source for people."""
    from checkrein.base.secrets import redact_url

    kind = str(source.get("source", ""))
    what = next((str(source[key]) for key in ("repo", "url", "package", "path") if source.get(key)), "")
    ref = f"@{source['ref']}" if source.get("ref") else ""
    return f"{kind} {redact_url(what)}{ref}".strip()


def _matches(entry: Any, source: Mapping[str, Any], *, wide: bool = False) -> bool:
    """Whether a list's entry means this source: exactly it, with its branch and folder. With `wide`, what the
    entry leaves open is open, and a repository is the same under every address."""
    if not isinstance(entry, dict):
        return False
    if wide:
        entry, source = _plain(entry), _plain(source)
    kind = entry.get("source")
    if kind == "hostPattern":
        return any(_searched(entry.get("hostPattern"), host) for host in _hosts(source))
    if kind == "pathPattern":
        path = str(source.get("path", ""))
        return source.get("source") in ("directory", "file") and _searched(entry.get("pathPattern"), path)
    if kind != source.get("source"):
        return False
    exact = () if wide or str(entry.get("repo", "")).endswith("/*") else _EXACT
    for key in dict.fromkeys((*entry, *exact)):
        if key in ("source", "headers", "autoUpdate", "skipLfs"):
            continue
        wanted, given = entry.get(key), source.get(key)
        if key == "repo" and isinstance(wanted, str) and wanted.endswith("/*"):
            if not fnmatch.fnmatchcase(str(given).lower(), wanted.lower()):
                return False
        elif key == "path" and isinstance(wanted, str):
            if os.path.realpath(wanted) != os.path.realpath(str(given)):
                return False
        elif str(given).lower() != str(wanted).lower() if key == "repo" else given != wanted:
            return False
    return True


def _plain(source: Mapping[str, Any]) -> Mapping[str, Any]:
    """Git addresses in one spelling; those of GitHub as a repository there."""
    if source.get("source") not in ("github", "git") or not isinstance(source.get("url"), str):
        return source
    url = str(source["url"])
    scp = _SCP.fullmatch(url)
    parts = urlsplit(url if scp is None else f"ssh://{scp[1]}/{scp[2]}")
    host, path = (parts.hostname or "").lower(), parts.path.strip("/").removesuffix(".git")
    if host == "github.com":
        others = {key: one for key, one in source.items() if key != "url"}
        return {**others, "source": "github", "repo": path}
    return {**source, "url": f"{host}/{path}"}


def _hosts(source: Mapping[str, Any]) -> Iterator[str]:
    if source.get("source") == "github":
        yield "github.com"
    url = str(source.get("url", ""))
    host = urlsplit(url).hostname if "://" in url else url.partition("@")[2].partition(":")[0]
    if host:
        yield host


def _searched(pattern: Any, text: str) -> bool:
    try:
        return isinstance(pattern, str) and re.search(pattern, text) is not None
    except re.error:
        return False
