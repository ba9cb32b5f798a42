"""One client of the server: a session of its own, which the first need opens."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import mcp_types as types
from msgspec import Struct

from checkrein.base.ids import short_id
from checkrein.llm.cancel import Cancel
from checkrein.llm.port import ToolUse
from checkrein.model.project import Project
from checkrein.model.view import View
from checkrein.runtime.call.host import Done
from checkrein.runtime.mcp.event_loop import in_thread
from checkrein.serve.mcp.line import Line, Request
from checkrein.serve.mcp.person import Person

if TYPE_CHECKING:
    from checkrein.runtime.session.options import Options
    from checkrein.runtime.session.session import Session
    from checkrein.runtime.tools.port import AnyTool

T = TypeVar("T")

_AT_ONCE = 16
"""Calls of one client that run at the same time; the others wait."""


class Served(Struct, frozen=True, kw_only=True):
    """What is served to every client. `through` are the servers behind the gateway; None serves our own
    tools. A `worker` is a headless worker, which sees less."""

    project: Project
    options: Options
    through: tuple[str, ...] | None = None
    worker: bool = False
    env: dict[str, str] | None = None


class Visit:
    """For the loop's thread. Its session lives in threads."""

    def __init__(self, served: Served, request: Request) -> None:
        self.served = served
        self.line = Line(request)
        self.person = Person(self.line, several=len(served.through or ()) > 1)
        self._opening = asyncio.Lock()
        self._session: Session | None = None
        self._places = asyncio.Semaphore(_AT_ONCE)
        self._ended = Cancel()

    async def session(self) -> Session:
        async with self._opening:
            if self._session is None:
                self._session = await in_thread(self._open)
            return self._session

    async def call(self, tool: str, input: dict[str, Any], id: str | None = None) -> Done:
        """A call of a tool through hooks and gate. It ends with the client's request."""
        session = await self.session()
        use = ToolUse(id or short_id("call_"), tool, input)
        return await self.work(lambda cancel: session.call(use, cancel))

    async def work(self, function: Callable[[Cancel], T]) -> T:
        """What a function gives that blocks. Its cancel fires when the client's request ends."""
        with self._ended.branch(None) as cancel:
            try:
                async with self._places:
                    return await in_thread(lambda: function(cancel))
            finally:
                cancel.cancel()

    async def close(self) -> None:
        self._ended.cancel()
        async with self._opening:
            session, self._session = self._session, None
        if session is not None:
            await in_thread(session.close)

    def tools(self) -> tuple[AnyTool, ...]:
        """The tools that the session has besides its own."""
        return ()

    def view(self) -> View:
        return View(self.served.project)

    def _open(self) -> Session:
        from checkrein.protocol.machine.setup import NoModel
        from checkrein.runtime.session.session import Session

        asker = self.person if self.person.takes_forms else None
        session = Session(
            self.view(),
            model=NoModel(),
            options=self.served.options,
            asker=asker,
            tools=self.tools(),
            env=self.served.env,
        )
        session.control.elicitations = self.person
        return session


def failed(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=True)
