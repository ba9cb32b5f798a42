"""The definitions of tools that the user accepted, in the Checkrein home.

The first list of a server is accepted as it is, apart from what contradicts the project's lock. A tool that
is new or different later asks before each call, until the user runs `checkrein mcp approve`. A tool that
disappears keeps its pin, so a server may show and hide its tools. A project's servers are pinned for that
project, the user's own for all projects.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from checkrein.base import clock
from checkrein.base.errors import FileError
from checkrein.base.home import checkrein_home
from checkrein.base.home_file import HomeFile
from checkrein.model.items import Server
from checkrein.model.project import Place
from checkrein.runtime.mcp import lockfile
from checkrein.runtime.mcp.connection import Catalog
from checkrein.runtime.mcp.server_row import Changes
from checkrein.runtime.mcp.tool_hashes import compare, hashes, identity

FILE = "mcp-pins.json"
_ENTRIES_KEPT = 16
_OF_ONE_PROJECT = ("project", "local", "cli")


class Pin(Struct, frozen=True):
    """The accepted hashes of one entry of a server, by tool."""

    at: str
    tools: dict[str, str] = {}


Entries = dict[str, Pin]
"""The pins of a server's name, by the identity of the entry: a branch may have another entry."""


class _File(Struct, frozen=True):
    version: int = 1
    projects: dict[str, dict[str, Entries]] = {}


class Pins:
    """Safe to use from several processes."""

    def __init__(self, place: Place, home: Path | None = None) -> None:
        self._place = place
        self.path = (checkrein_home() if home is None else home) / FILE
        self._file = HomeFile(self.path, _File(), kind="pins_unwritable")

    @property
    def problem(self) -> str | None:
        """Why the file is not used. All tools ask then."""
        return self._file.problem

    def changes(self, server: Server, catalog: Catalog) -> frozenset[str]:
        """The tools whose calls ask, when a server lists its tools in a session. Never raises.

        The first list is remembered. Where it can't be written, each session is the first.
        """
        found, problem = self._file.read()
        if problem is not None:
            return frozenset(hashes(catalog))
        pin = self._pin(found, server)
        if pin is not None:
            return compare(pin.tools, hashes(catalog)).unknown
        doubted = self._contradicted(server, catalog)
        accepted = {name: value for name, value in hashes(catalog).items() if name not in doubted}
        if catalog.tools:
            try:
                self._keep(server, lambda known: known or Pin(clock.timestamp(), accepted))
            except FileError:
                return doubted
        return doubted

    def compared(self, server: Server, catalog: Catalog) -> Changes | None:
        """What differs from the accepted definitions; None before the first list. Changes nothing."""
        found, problem = self._file.read()
        pin = self._pin(found, server)
        if pin is None:
            doubted = self._contradicted(server, catalog) if problem is None else frozenset(hashes(catalog))
            return Changes(changed=tuple(sorted(doubted))) if doubted else None
        return compare(pin.tools, hashes(catalog))

    def approve(self, server: Server, catalog: Catalog) -> None:
        """Accept the tools as they are now."""
        now = hashes(catalog)

        def merged(known: Pin | None) -> Pin:
            return Pin(clock.timestamp(), {**(known.tools if known else {}), **now})

        self._keep(server, merged)

    def _contradicted(self, server: Server, catalog: Catalog) -> frozenset[str]:
        """The tools that differ from the lock, if the lock knows the server."""
        if not lockfile.is_shared(server):
            return frozenset()
        locked_tools = lockfile.read(self._place).servers.get(server.name)
        return frozenset() if locked_tools is None else compare(locked_tools, hashes(catalog)).unknown

    def _owner(self, server: Server) -> str:
        return os.path.realpath(self._place.root) if server.origin.scope in _OF_ONE_PROJECT else ""

    def _pin(self, found: _File, server: Server) -> Pin | None:
        entries = found.projects.get(self._owner(server), {}).get(server.name, {})
        return entries.get(identity(server))

    def _keep(self, server: Server, change: Callable[[Pin | None], Pin]) -> None:
        owner, key = self._owner(server), identity(server)

        def kept(found: _File) -> _File:
            servers = found.projects.get(owner, {})
            entries = dict(servers.get(server.name, {}))
            entries[key] = change(entries.pop(key, None))
            newest = dict(list(entries.items())[-_ENTRIES_KEPT:])
            return replace(found, projects={**found.projects, owner: {**servers, server.name: newest}})

        self._file.change(kept)
