"""The events of one prompt, for `for` and for `async for`."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING

from checkrein.runtime.session.events import Event, Finished, Result
from checkrein.runtime.session.wakes import Wake

if TYPE_CHECKING:
    from checkrein.runtime.session.control import Typed
    from checkrein.runtime.session.session import Prompt, Session


_CHANCES = 5
"""Passes of the event loop in which it closes an iterator that the caller has left."""


class Stream:
    """Iterate once. Leaving early interrupts the turn, and the next run of the session waits for its end.
    `result` is set after the last event."""

    def __init__(self, session: Session, prompt: Prompt | Typed | Wake) -> None:
        self._session = session
        self._left = threading.Event()
        self._ended = threading.Event()
        self._events = session.events(prompt)
        self.result: Result | None = None

    def __iter__(self) -> Iterator[Event]:
        try:
            for event in self._events:
                if isinstance(event, Finished):
                    self.result = event.result
                yield event
        finally:
            self.close()

    def close(self) -> None:
        """End the turn now, if it still runs."""
        self._events.close()  # type: ignore[attr-defined]  # it is a generator

    async def __aiter__(self) -> AsyncIterator[Event]:
        """The same events; the turn runs in its own thread."""
        import asyncio

        loop = asyncio.get_running_loop()
        queue: asyncio.Queue[Event | BaseException | None] = asyncio.Queue()
        await self._after(self._session.streaming)
        self._session.streaming = self

        def work() -> None:
            end: BaseException | None = None
            try:
                for event in self:
                    if self._left.is_set():
                        break
                    loop.call_soon_threadsafe(queue.put_nowait, event)
            except BaseException as error:  # passed to the waiting task
                end = error
            self._ended.set()
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits
                loop.call_soon_threadsafe(queue.put_nowait, end)

        thread = threading.Thread(target=work, name="checkrein-turn", daemon=True)
        thread.start()
        try:
            while True:
                item = await queue.get()
                if item is None:
                    return
                if isinstance(item, BaseException):
                    raise item
                yield item
        finally:
            self._left.set()
            if thread.is_alive():
                self._session.control.interrupt()
                await asyncio.to_thread(thread.join)

    async def _after(self, before: Stream | None) -> None:
        """Wait for the end of a run that the caller has left with `break`: Python closes such an iterator
        only in the next passes of the event loop."""
        import asyncio

        for _ in range(_CHANCES):
            if before is None or before._ended.is_set():
                return
            if before._left.is_set():
                await asyncio.to_thread(before._ended.wait)
                return
            await asyncio.sleep(0)
