"""One server as the session sees it. Any thread may use it; the work happens on the loop's thread.

This module imports nothing of asyncio or `mcp`: `life`, which does, is imported by the loop's thread.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from checkrein.llm.cancel import Cancel
from checkrein.runtime.mcp.connection import CallResult, Progress, PromptMessage
from checkrein.runtime.mcp.entry import Entry
from checkrein.runtime.mcp.event_loop import Job, Loop
from checkrein.runtime.mcp.front import Front
from checkrein.runtime.mcp.needs import Needs

if TYPE_CHECKING:
    import asyncio

    from checkrein.runtime.mcp.dialogue import Request
    from checkrein.runtime.mcp.life import Life

T = TypeVar("T")


class Link(Front):
    """A `Connection`. `begin` and `end` may follow each other as often as one likes. `gate` gives the
    semaphore of servers that connect at the same time; it is called on the loop's thread."""

    def __init__(self, entry: Entry, loop: Loop, needs: Needs, gate: Callable[[], asyncio.Semaphore]) -> None:
        self._loop = loop
        self._gate = gate
        self._life: Life | None = None
        self._job: Job[None] | None = None
        super().__init__(entry, needs)

    def begin(self) -> None:
        """Connect. Returns at once."""
        with self._lock:
            if self.entry.problem or (self._job is not None and not self._job.done):
                return
            self._board.state("pending")
            self._job = self._loop.submit(self._live)

    def end(self, grace: float, disabled: str | None = None) -> None:
        """Close the connection, and wait for the end of its process. With `disabled` it counts as switched
        off, for that reason."""
        job = self.release()
        if job is not None:
            self._loop.call(lambda: self.leave(job))
            if not job.wait(grace):
                job.cancel()
                job.wait(grace)
        self._switched_off(disabled)

    def release(self) -> Job[None] | None:
        """The work of the connection, if there is any, for one who ends it."""
        with self._lock:
            job, self._job = self._job, None
        return job

    def leave(self, job: Job[None]) -> None:
        """On the loop's thread: the connection begins to end, and nothing new begins."""
        if self._life is None or not self._life.close():
            job.stop()

    def call_tool(
        self,
        tool: str,
        input: dict[str, Any],
        cancel: Cancel,
        progress: Progress | None = None,
        call: str = "",
    ) -> CallResult:
        what = f"The call of `{tool}` on the server `{self.name}`"
        return self.request(lambda dialogue: dialogue.call_tool(tool, input, progress, call), cancel, what)

    def read_resource(self, uri: str, cancel: Cancel) -> tuple[dict[str, Any], ...]:
        what = f"Reading a resource of the server `{self.name}`"
        return self.request(lambda dialogue: dialogue.read_resource(uri), cancel, what)

    def get_prompt(self, prompt: str, arguments: dict[str, str], cancel: Cancel) -> tuple[PromptMessage, ...]:
        what = f"The prompt `{prompt}` of the server `{self.name}`"
        return self.request(lambda dialogue: dialogue.get_prompt(prompt, arguments), cancel, what)

    def roots_changed(self) -> None:
        """Tell the server that `roots` has other directories now. Returns at once."""
        if self.status.state == "connected":
            self._loop.submit(lambda: self._do(lambda dialogue: dialogue.roots_changed()))

    def request(self, request: Request[T], cancel: Cancel, what: str) -> T:
        """Any other request. `what` names it in a failure."""
        if self._life is None:
            raise self._board.absence()
        limit = self.entry.times.call
        return self._loop.run(lambda: self._do(request), timeout=limit, cancel=cancel, what=what)

    async def _do(self, request: Request[T]) -> T:
        if self._life is None:
            raise self._board.absence()
        return await self._life.request(request)

    async def _live(self) -> None:
        try:
            import asyncio

            from checkrein.runtime.mcp.life import Life

            await asyncio.sleep(0)  # the import took a while; somebody may have cancelled meanwhile
            life = self._life = Life(self.entry, self._needs, self._board, self._gate())
            await life.run()
        except Exception as error:
            self._board.state("failed", f"Checkrein could not run it: {error!r}.")
        finally:
            self._life = None

    def _note(self, text: str) -> None:
        self._loop.call(lambda: self._needs.logged(self.name, "debug", text))
