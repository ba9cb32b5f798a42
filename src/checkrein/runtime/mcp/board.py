"""What is known of one server at the moment: its state, its catalog, what is wrong with it.

The loop's thread writes, any thread reads.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.harmless import one_line
from checkrein.facts import mcp
from checkrein.runtime.mcp.connection import Catalog, ServerFailure, State, Status
from checkrein.runtime.mcp.entry import Entry

_FAULTS = 50
_NOTES = 20


class Board:
    """`changed` is called after each change, `noted` gets remarks about what the server sent; both on the
    loop's thread."""

    def __init__(self, entry: Entry, changed: Callable[[], object], noted: Callable[[str], object]) -> None:
        self._entry = entry
        self._changed = changed
        self._noted = noted
        self._notes = 0
        self._helper: tuple[Diagnostic, ...] = ()
        self._faults: tuple[Diagnostic, ...] = ()
        self.signs = False
        """Whether an `Authorization` header is configured."""
        self.catalog = Catalog()
        self.status = Status(
            name=entry.name, state="pending", scope=entry.origin.scope, transport=entry.transport
        )

    @property
    def findings(self) -> tuple[Diagnostic, ...]:
        return (*self._entry.findings, *self._helper, *self._faults)

    def state(self, state: State, error: str | None = None, connect_ms: int | None = None) -> None:
        self._notes = 0
        self.status = replace(self.status, state=state, error=error, connect_ms=connect_ms)
        self._tell()

    def is_welcome(self, yes: bool, error: str | None = None) -> None:
        """Whether the server still accepts our login."""
        state: State = "connected" if yes else "needs-auth"
        if self.status.state != state and self.status.state in ("connected", "needs-auth"):
            self.status = replace(self.status, state=state, error=error)
            self._tell()

    def listed(self, catalog: Catalog, faults: tuple[str, ...]) -> None:
        self.catalog = catalog
        self._faults = tuple(map(self._broken, faults[:_FAULTS]))

    def relisted(self, offers: dict[str, Any], faults: tuple[str, ...]) -> None:
        """Lists that could be fetched replace the old ones."""
        self.listed(replace(self.catalog, **offers), faults)
        self._tell()

    def found(self, finding: Diagnostic | None) -> None:
        self._helper = () if finding is None else (finding,)

    def note(self, text: str) -> None:
        """A remark for the log. A server that does the same wrong thing for ever is not heard for ever."""
        self._notes += 1
        if self._notes <= _NOTES:
            self._noted(text)

    def absence(self) -> ServerFailure:
        """Why a request can't be made now."""
        name, why = self._entry.name, self.status.error or ""
        match self.status.state:
            case "needs-auth":
                return ServerFailure(f"The server `{name}` can't be used yet. {why}", kind="needs_auth")
            case "disabled":
                return ServerFailure(f"The server `{name}` is switched off. {why}".rstrip(), kind="gone")
            case "pending":
                return ServerFailure(f"The server `{name}` is not connected yet. {why}".rstrip(), kind="gone")
        hint = mcp.LOST_HINT if self._entry.is_remote else mcp.ENDED_HINT
        return ServerFailure(f"The server `{name}` is not connected. {why} {hint}", kind="gone")

    def _tell(self) -> None:
        with contextlib.suppress(Exception):
            self._changed()

    def _broken(self, fault: str) -> Diagnostic:
        message = f"The server `{self._entry.name}` offers something that can't be used: {one_line(fault)}"
        hint = "Everything else of the server works. Tell its author."
        return Diagnostic("RUNMCP003", "warning", message, self._entry.origin, hint=hint)
