"""Calls that take long: people and programs hear of it, and never after the end."""

from __future__ import annotations

import time

import pytest

from checkrein.protocol import heartbeats, waits
from checkrein.protocol.heartbeats import Heartbeats
from checkrein.protocol.stream_json import FrameOptions, Frames
from checkrein.protocol.waits import Waits
from checkrein.runtime.session.events import Notice, ToolFinished, ToolStarted

CALL = ToolStarted("c1", "mcp__slow__sleep", {})


def ended(call: ToolStarted) -> ToolFinished:
    return ToolFinished(id=call.id, name=call.name, input={}, uuid="u", content="")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (waits, heartbeats):
        monkeypatch.setattr(module, "_LOOK", 0.01)
    monkeypatch.setattr(heartbeats, "_EVERY", 0.1)
    monkeypatch.setattr(waits, "_SERVER_CALL", 0.2)


def test_a_call_beats_until_it_ends() -> None:
    beats: list[tuple[str, float]] = []
    watch = Heartbeats(lambda call, seconds: beats.append((call.id, seconds)))
    watch.take(CALL)
    watch.take(ToolStarted("c2", "Bash", {}, caller="hook"))
    watch.take(ToolStarted("c3", "Bash", {}))
    watch.take(ended(ToolStarted("c3", "Bash", {})))
    time.sleep(0.36)
    watch.take(ended(CALL))
    count = len(beats)
    assert 2 <= count <= 3
    assert {key for key, _ in beats} == {"c1"}
    assert [seconds for _, seconds in beats] == sorted(seconds for _, seconds in beats)
    time.sleep(0.15)
    assert len(beats) == count
    watch.close()


def test_a_reader_that_has_left_ends_the_beats() -> None:
    def beat(call: ToolStarted, seconds: float) -> None:
        raise BrokenPipeError

    watch = Heartbeats(beat)
    watch.take(CALL)
    time.sleep(0.15)
    watch.take(ended(CALL))
    watch.close()


def test_the_frame_of_a_beat() -> None:
    frame = Frames(FrameOptions()).progress(CALL, 30.4)
    assert {key: value for key, value in frame.items() if key not in ("uuid", "session_id")} == {
        "type": "tool_progress",
        "tool_use_id": "c1",
        "tool_name": "mcp__slow__sleep",
        "parent_tool_use_id": None,
        "elapsed_time_seconds": 30,
    }
    assert frame["uuid"]


@pytest.mark.parametrize("busy", [True, False])
def test_a_long_call_of_a_server_is_told_once(busy: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not busy:
        monkeypatch.setattr(waits, "_FIRST", 0.1)
    told: list[str] = []
    watch = Waits(told.append)
    watch.take(CALL)
    watch.take(ToolStarted("c2", "Bash", {}))
    watch.take(ended(ToolStarted("c2", "Bash", {})))
    for _ in range(20):
        time.sleep(0.02)
        if busy:
            watch.take(Notice("info", "something else"))
    watch.take(ended(CALL))
    watch.close()
    assert told == ["Waiting for the tool mcp__slow__sleep, 0 s so far."]


def test_a_long_call_of_another_tool_is_not_told_while_something_happens() -> None:
    told: list[str] = []
    watch = Waits(told.append)
    watch.take(ToolStarted("c1", "Bash", {}))
    for _ in range(15):
        time.sleep(0.02)
        watch.take(Notice("info", "something else"))
    watch.close()
    assert told == []
