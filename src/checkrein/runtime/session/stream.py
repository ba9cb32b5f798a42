"""The events of one prompt, for `for` and for `async for`."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING

from checkrein.runtime.session.events import Event, Finished, Result

if TYPE_CHECKING:
    from checkrein.runtime.session.session import Prompt, Session


class Stream:
    """Iterate once. Leaving early interrupts the turn. `result` is set after the last event."""

    def __init__(self, session: Session, prompt: Prompt) -> None:
        self._session = session
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
        left = threading.Event()

        def work() -> None:
            end: BaseException | None = None
            try:
                for event in self:
                    if left.is_set():
                        break
                    loop.call_soon_threadsafe(queue.put_nowait, event)
            except BaseException as error:  # passed to the waiting task
                end = error
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
            left.set()
            if thread.is_alive():
                self._session.control.interrupt()
                await asyncio.to_thread(thread.join)
