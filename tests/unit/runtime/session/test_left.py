"""Runs that a program leaves, and sessions that it never closes."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import time
from pathlib import Path

import pytest

from checkrein.runtime.session.events import Finished, ToolStarted
from checkrein.runtime.session.options import Options
from checkrein.runtime.session.session import Session
from checkrein.testing import ScriptedModel
from support.programs import recorded

SLEEP = {"tool_calls": [{"name": "Bash", "input": {"command": "sleep 30"}}]}


def opened(project: Path, *turns: dict[str, object]) -> Session:
    return Session(project, model=ScriptedModel(turns), options=Options(trust=True, allowed=("Bash",)))


@pytest.mark.parametrize("kept", [True, False])
def test_break_in_async_for_and_then_run(project: Path, kept: bool) -> None:
    """The next run waits until the left one has ended, and both have their result."""

    async def work() -> str:
        async with opened(project, SLEEP, {"text": "second"}) as session:
            stream = session.run("first") if kept else None
            async for event in stream or session.run("first"):
                if isinstance(event, ToolStarted):
                    break
            async for event in session.run("next"):
                if isinstance(event, Finished):
                    return event.result.text
        raise AssertionError

    began = time.monotonic()
    assert asyncio.run(work()) == "second"
    assert time.monotonic() - began < 10
    assert [result["terminal_reason"] for result in recorded()] == ["aborted_tools", "completed"]


def test_break_in_for_and_then_run(project: Path) -> None:
    with opened(project, SLEEP, {"text": "second"}) as session:
        for event in session.run("first"):
            if isinstance(event, ToolStarted):
                break
        list(session.run("next"))
        assert session.result is not None
        assert session.result.text == "second"


def test_two_runs_at_once_are_refused(project: Path) -> None:
    async def work() -> list[BaseException | None]:
        async with opened(project, {"text": "slow", "delay": 0.5}, {"text": "b"}) as session:

            async def consume(prompt: str) -> None:
                async for _ in session.run(prompt):
                    pass

            return await asyncio.gather(consume("a"), consume("b"), return_exceptions=True)

    first, second = asyncio.run(work())
    assert first is None
    assert "busy" in str(second)


def test_a_session_that_nobody_closes(project: Path) -> None:
    """Its processes end, its transcript is free, and a warning says so."""
    session = opened(
        project,
        {"tool_calls": [{"name": "Bash", "input": {"command": "sleep 60", "run_in_background": True}}]},
        {"text": "ok"},
    )
    list(session.run("go"))
    spawner, id = session.conversation.services.spawner, session.id
    children = list(spawner._children)
    assert children
    del session
    with pytest.warns(ResourceWarning, match="never closed"):
        gc.collect()
    assert all(child.ended.is_set() for child in children)
    with Session(project, model=ScriptedModel([{"text": "again"}]), options=Options(resume=id)) as later:
        list(later.run("more"))
        assert later.result is not None
        assert later.result.text == "again"


PROGRAM = """
import sys
from checkrein.runtime.session.options import Options
from checkrein.runtime.session.session import Session
from checkrein.testing import ScriptedModel

call = {"tool_calls": [{"name": "Bash", "input": {"command": "sleep 61.5", "run_in_background": True}}]}
options = Options(trust=True, allowed=("Bash",))
session = Session(".", model=ScriptedModel([call, {"text": "ok"}]), options=options)
list(session.run("go"))
print(session.result.text)
"""


def test_a_program_that_ends_without_a_close(project: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=project, capture_output=True, text=True, timeout=30, check=False
    )
    assert (done.returncode, done.stdout) == (0, "ok\n"), done.stderr
    found = [path for path in Path("/proc").glob("[0-9]*/cmdline") if _reads(path, b"sleep\x0061.5")]
    assert found == []


def _reads(path: Path, text: bytes) -> bool:
    try:
        return text in path.read_bytes()
    except OSError:
        return False
