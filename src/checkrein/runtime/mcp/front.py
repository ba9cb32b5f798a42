"""The side of a connection that everybody reads: whose it is, how it is, what it offers."""

from __future__ import annotations

import threading
from typing import cast

from checkrein.base.diagnostic import Diagnostic
from checkrein.runtime.mcp.board import Board
from checkrein.runtime.mcp.connection import Catalog, Connection, Status
from checkrein.runtime.mcp.entry import Entry
from checkrein.runtime.mcp.needs import Needs


class Front:
    """The beginning of every `Connection`. An entry that can't work has failed from the start."""

    def __init__(self, entry: Entry, needs: Needs) -> None:
        self.entry = entry
        self._needs = needs
        self._lock = threading.Lock()
        self._board = Board(entry, lambda: needs.changed(cast(Connection, self)), self._note)
        if entry.problem:
            self._board.state("failed", entry.problem)

    @property
    def name(self) -> str:
        return self.entry.name

    @property
    def status(self) -> Status:
        return self._board.status

    @property
    def catalog(self) -> Catalog:
        return self._board.catalog

    @property
    def findings(self) -> tuple[Diagnostic, ...]:
        """Warnings about its entry, its headers helper, and what it declares."""
        return self._board.findings

    def _switched_off(self, why: str | None) -> None:
        """After its end: it counts as switched off, for that reason; None is an ordinary end."""
        if why is not None:
            self._board.state("disabled", why or None)

    def _note(self, text: str) -> None:
        """A remark for the log about what the server sent."""
