"""The thread of the loop: waiting, stopping, ending."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time

import pytest

from checkrein.llm.cancel import Cancel
from checkrein.runtime.mcp.connection import ServerFailure
from checkrein.runtime.mcp.event_loop import Loop, in_thread


async def nap(seconds: float, log: list[str] | None = None) -> str:
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        if log is not None:
            log.append("cancelled")
        raise
    return "rested"


def test_values_errors_and_limits() -> None:
    loop = Loop()
    assert loop.run(lambda: nap(0), timeout=5) == "rested"
    with pytest.raises(ServerFailure, match=r"The nap took longer than 0.1 s") as late:
        loop.run(lambda: nap(5), timeout=0.1, what="The nap")
    assert late.value.kind == "timeout"

    async def broken() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError):
        loop.run(broken, timeout=5)
    loop.close(1)


def test_a_cancel_reaches_the_coroutine() -> None:
    loop, log, cancel = Loop(), list[str](), Cancel()
    threading.Timer(0.1, cancel.cancel).start()
    with pytest.raises(ServerFailure) as stopped:
        loop.run(lambda: nap(30, log), timeout=None, cancel=cancel)
    assert stopped.value.kind == "cancelled"
    loop.run(lambda: nap(0.05), timeout=5)
    assert log == ["cancelled"]
    with pytest.raises(ServerFailure):
        loop.run(lambda: nap(30), timeout=None, cancel=cancel)
    loop.close(1)


def test_close_ends_everything_within_the_grace() -> None:
    loop, log = Loop(), list[str]()

    async def stubborn() -> None:
        while True:
            try:
                await asyncio.sleep(30)
            except asyncio.CancelledError:
                log.append("no")

    jobs = [loop.submit(lambda: nap(30, log)), loop.submit(stubborn)]
    loop.run(lambda: nap(0), timeout=5)
    began = time.monotonic()
    loop.close(0.5)
    assert time.monotonic() - began < 2
    assert all(job.done for job in jobs)
    assert "cancelled" in log
    with pytest.raises(ServerFailure, match="session has ended"):
        loop.run(lambda: nap(0), timeout=1)
    loop.close(1)


def test_close_before_the_first_use() -> None:
    loop = Loop()
    loop.close(1)
    with pytest.raises(ServerFailure):
        loop.run(lambda: nap(0), timeout=1)


def test_a_blocking_function_does_not_hold_up_the_end() -> None:
    loop, released = Loop(), threading.Event()
    job = loop.submit(lambda: in_thread(lambda: released.wait(30)))
    assert loop.run(lambda: in_thread(lambda: 7), timeout=5) == 7
    began = time.monotonic()
    loop.close(0.5)
    assert time.monotonic() - began < 1.5
    released.set()
    assert job.done


def test_the_thread_never_waits_for_itself() -> None:
    loop = Loop()

    async def inner() -> None:
        loop.run(lambda: nap(0), timeout=1)

    with pytest.raises(RuntimeError, match="wait for itself"):
        loop.run(inner, timeout=5)
    loop.close(1)


def test_nothing_heavy_is_imported_with_the_servers() -> None:
    code = (
        "import sys, checkrein.runtime.mcp.servers\n"
        "print([name for name in ('asyncio', 'anyio', 'mcp', 'httpx2', 'pydantic') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
