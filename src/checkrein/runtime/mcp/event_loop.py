"""The one asyncio thread beside the synchronous core.

It starts at the first use. This module imports asyncio only on that thread; so do the modules that it runs.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from checkrein.runtime.mcp.connection import ServerFailure

if TYPE_CHECKING:
    import asyncio

    from checkrein.llm.cancel import Cancel

T = TypeVar("T")
Work = Callable[[], Coroutine[Any, Any, T]]
"""Makes the coroutine, on the thread of the loop: imports that it needs happen there."""


class Job(Generic[T]):
    """Work on the loop. Any thread may wait for it and cancel it."""

    def __init__(self, loop: Loop, work: Work[T]) -> None:
        self._loop = loop
        self._work = work
        self._task: asyncio.Task[T] | None = None
        self._woken = threading.Condition()
        self._stopped = False
        self.done = False
        self._value: T | None = None
        self._error: BaseException | None = None

    def cancel(self) -> None:
        """Cancel the coroutine; returns at once, before the coroutine has cleaned up."""
        self._stopped = True
        self._loop.call(self.stop)

    def stop(self) -> None:
        """The same, on the loop's thread: the coroutine makes no step any more."""
        self._stopped = True
        if self._task is not None:
            self._task.cancel()

    def wake(self) -> None:
        """Make whoever waits look again."""
        with self._woken:
            self._woken.notify_all()

    def wait(self, seconds: float | None, stop: Callable[[], bool] = lambda: False) -> bool:
        """Wait for the end, at most so long, or until `stop` holds after a `wake`. Whether it ended."""
        with self._woken:
            self._woken.wait_for(lambda: self.done or stop(), seconds)
            return self.done

    def result(self) -> T:
        if self._error is not None:
            raise self._error
        return self._value  # type: ignore[return-value]

    def begin(self) -> None:
        """On the loop's thread."""
        import asyncio

        if self._stopped:
            return self._end(None, _cancelled())
        self._task = asyncio.ensure_future(self._work())
        self._task.add_done_callback(self._finished)
        return None

    def fail(self, error: BaseException) -> None:
        if not self.done:
            self._end(None, error)

    def _finished(self, task: asyncio.Task[T]) -> None:
        if task.cancelled():
            self._end(None, _cancelled())
        elif (error := task.exception()) is not None:
            self._end(None, error)
        else:
            self._end(task.result(), None)

    def _end(self, value: T | None, error: BaseException | None) -> None:
        with self._woken:
            self._value, self._error, self.done = value, error, True
            self._woken.notify_all()


class Loop:
    """Any thread but its own may use it. `close` ends everything that runs on it. `needs` are modules that
    its thread imports first, one by one: a close does not wait for all of them."""

    def __init__(self, needs: tuple[str, ...] = ()) -> None:
        self._needs = needs
        self._lock = threading.Lock()
        self._early: list[Callable[[], object]] = []
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._jobs: set[Job[Any]] = set()
        self._leaving = False
        self._closed = False

    def call(self, function: Callable[[], object]) -> None:
        """Call it soon on the loop's thread."""
        with self._lock:
            if self._loop is None:
                if self._thread is not None and not self._closed:
                    self._early.append(function)
                return
            with contextlib.suppress(RuntimeError):  # the loop has just closed
                self._loop.call_soon_threadsafe(function)

    def submit(self, work: Work[T]) -> Job[T]:
        """Start work. Returns at once."""
        job = Job(self, work)
        with self._lock:
            if self._leaving:
                job.fail(_ended())
                return job
            self._jobs = {one for one in self._jobs if not one.done} | {job}
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="checkrein-mcp", daemon=True)
                self._thread.start()
        self.call(job.begin)
        return job

    def run(
        self, work: Work[T], *, timeout: float | None, cancel: Cancel | None = None, what: str = "The request"
    ) -> T:
        """Do the work and wait for it: no longer than `timeout` seconds, and not after `cancel`. Then the
        coroutine is cancelled, and ServerFailure (timeout, cancelled) is raised at once."""
        if threading.current_thread() is self._thread:
            raise RuntimeError("the thread of the loop can't wait for itself")
        job = self.submit(work)
        try:
            if cancel is None:
                job.wait(timeout)
            else:
                with cancel.on_cancel(job.wake):
                    job.wait(timeout, lambda: cancel.cancelled)
        except BaseException:
            job.cancel()
            raise
        if job.done:
            return job.result()
        job.cancel()
        if cancel is not None and cancel.cancelled:
            raise ServerFailure(f"{what} was cancelled.", kind="cancelled")
        raise ServerFailure(f"{what} took longer than {timeout:g} s.", kind="timeout")

    def leave(self) -> None:
        """Take no more work, and close if nothing has begun yet. Returns at once."""
        with self._lock:
            self._leaving = True
            if self._loop is not None:
                return
            self._closed = True
            jobs = list(self._jobs)
        for job in jobs:
            job.fail(_ended())

    def close(self, grace: float) -> None:
        """Cancel everything, and give it so many seconds to clean up."""
        limit = time.monotonic() + grace
        with self._lock:
            thread, late = self._thread, self._closed
            self._leaving = self._closed = True
            jobs = list(self._jobs)
        if thread is None:
            return
        if late:
            thread.join(grace)
            return
        for job in jobs:
            job.cancel()
        for job in jobs:
            job.wait(max(0.0, limit - time.monotonic()))
        self.call(self._stop)
        thread.join(max(0.1, limit - time.monotonic()))
        for job in jobs:
            job.fail(_ended())

    def _stop(self) -> None:
        if self._loop is not None:
            self._loop.stop()

    def _run(self) -> None:
        from importlib import import_module

        for name in ("asyncio", *self._needs):
            if self._closed:
                return
            with contextlib.suppress(Exception):  # who needs it says what is wrong with it
                import_module(name)
        import asyncio

        loop = asyncio.new_event_loop()
        loop.set_exception_handler(lambda loop, context: None)  # nothing goes to the terminal from here
        asyncio.set_event_loop(loop)
        with self._lock:
            if self._closed:
                loop.close()
                return
            self._loop = loop
            early, self._early = self._early, []
        for function in early:
            loop.call_soon(function)
        try:
            loop.run_forever()
            _settle(loop)
        finally:
            with self._lock:
                self._loop = None
            loop.close()


async def in_thread(function: Callable[[], T], name: str = "checkrein-mcp-work") -> T:
    """What a function that blocks returns. When the waiting task is cancelled, the function goes on alone.
    Its thread never holds up the end of the process."""
    import asyncio

    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(value: T | None, error: BaseException | None) -> None:
        if future.cancelled():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(value)  # type: ignore[arg-type]

    def work() -> None:
        value, error = None, None
        try:
            value = function()
        except BaseException as raised:
            error = raised if isinstance(raised, Exception) else RuntimeError(repr(raised))
        with contextlib.suppress(RuntimeError):  # the loop is gone
            loop.call_soon_threadsafe(settle, value, error)

    threading.Thread(target=work, name=name, daemon=True).start()
    return await future


async def to_the_end(work: Awaitable[T]) -> T:
    """Wait for the end of the work, although the waiting task is cancelled meanwhile."""
    import asyncio

    task = asyncio.ensure_future(work)
    cancelled = False
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            cancelled = True
        except Exception:  # the task has it
            break
    if cancelled:
        task.exception()
        raise asyncio.CancelledError
    return task.result()


def _settle(loop: asyncio.AbstractEventLoop) -> None:
    """What was cancelled a moment ago gets its turn; nothing may wait any longer."""
    import asyncio

    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    if left:
        loop.run_until_complete(asyncio.wait(left, timeout=0.2))
    loop.run_until_complete(loop.shutdown_asyncgens())


def _cancelled() -> ServerFailure:
    return ServerFailure("The request was cancelled.", kind="cancelled")


def _ended() -> ServerFailure:
    return ServerFailure("The session has ended, and its MCP servers with it.", kind="gone")
