"""Recording and replaying: the same events, no secrets, a readable difference, a file that grows linearly."""

import json
import stat
from pathlib import Path
from typing import Any

import msgspec
import pytest

from checkrein.base.errors import ConfigError, FileError
from checkrein.llm.anthropic import AnthropicModel
from checkrein.llm.cassette import Cassette
from checkrein.llm.port import (
    CacheMark,
    Cancel,
    Message,
    Model,
    ModelEvent,
    ModelRequestError,
    Request,
    SystemBlock,
    ToolResult,
    ToolSpec,
    assistant,
    user,
)
from checkrein.llm.record import RecordingModel
from checkrein.llm.replay import ReplayModel
from checkrein.llm.scripted import ScriptedModel
from checkrein.llm.server import ScriptedServer

TURNS: list[dict[str, Any]] = [
    {
        "thinking": "hm",
        "text": "look",
        "chunk": 2,
        "tool_calls": [{"name": "Read", "input": {"path": "/home/me/a"}}],
    },
    {"fault": {"status": 429, "retry_after": 2}},
    {"text": "half", "chunk": 1, "fault": {"cut": True, "after": 4}},
    {"text": "done"},
]


def session(model: Model, home: str = "/home/me", extra: str = "") -> list[list[ModelEvent | str]]:
    """A small session against any model; failures are recorded and the request is sent again."""
    messages: list[Message] = [user(f"work in {home}{extra}")]
    system = (SystemBlock(f"You are in {home}."),)
    tools = (ToolSpec("Read", "Reads.", {"type": "object"}),)
    seen: list[list[ModelEvent | str]] = []
    for _ in range(len(TURNS)):
        request = Request(
            model="m", messages=tuple(messages), system=system, tools=tools, marks=(CacheMark("messages"),)
        )
        events: list[ModelEvent | str] = []
        seen.append(events)
        try:
            for event in model.stream(request, Cancel()):
                events.append(event)
        except ModelRequestError as error:
            events.append(f"{error.kind} {error.retry_after} {error.completed}")
            continue
        messages.append(assistant("noted"))
        messages.append(user(ToolResult("c", "password=hunter2 is in the file")))
    return seen


@pytest.fixture
def recorded(tmp_path: Path) -> tuple[Path, list[list[ModelEvent | str]]]:
    file = tmp_path / "c.jsonl"
    with ScriptedServer(TURNS) as server:
        model = RecordingModel(
            AnthropicModel(api_key="sk-ant-secret-secret-secret", base_url=server.url, env={}),
            file,
            (("/home/me", "‹home›"),),
        )
        seen = session(model)
        model.close()
    return file, seen


def test_replay_gives_the_same_events_offline(recorded: tuple[Path, Any]) -> None:
    file, seen = recorded
    model = ReplayModel(file, (("/home/me", "‹home›"),))
    assert session(model) == seen
    assert model.finished


def test_replay_in_another_place(recorded: tuple[Path, Any]) -> None:
    file, _ = recorded
    events = session(ReplayModel(file, (("/srv/else", "‹home›"),)), "/srv/else")
    assert "/srv/else/a" in repr(events[0])
    assert "/home/me" not in repr(events)


def test_drift_fails_with_a_difference(recorded: tuple[Path, Any]) -> None:
    file, _ = recorded
    events = session(ReplayModel(file, (("/home/me", "‹home›"),)), extra=" please")
    assert str(events[0][0]).startswith("replay_drift")
    model = ReplayModel(file, (("/home/me", "‹home›"),))
    with pytest.raises(ModelRequestError) as caught:
        list(model.stream(Request(model="m", messages=(user("other"),)), Cancel()))
    assert '-     "text": "work in ‹home›"' in caught.value.message
    assert '+     "text": "other"' in caught.value.message
    assert "request 1" in caught.value.message


def test_lenient_replay_takes_the_next_one(recorded: tuple[Path, Any]) -> None:
    file, seen = recorded
    model = ReplayModel(file, (("/home/me", "‹home›"),), strict=False)
    assert session(model, extra=" please") == seen


def test_nothing_is_left(recorded: tuple[Path, Any]) -> None:
    model = ReplayModel(recorded[0], (("/home/me", "‹home›"),))
    session(model)
    with pytest.raises(ModelRequestError, match="the session needs more"):
        list(model.stream(Request(model="m", messages=(user("x"),)), Cancel()))


def test_parallel_requests_may_come_in_another_order(tmp_path: Path) -> None:
    file = tmp_path / "c.jsonl"
    one, two = (Request(model="m", messages=(user(name),)) for name in ("one", "two"))
    recording = RecordingModel(ScriptedModel([{"text": "1"}, {"text": "2"}]), file)
    first, second = (list(recording.stream(request, Cancel())) for request in (one, two))
    recording.close()
    replay = ReplayModel(file)
    assert list(replay.stream(two, Cancel())) == second
    assert list(replay.stream(one, Cancel())) == first


def test_file_holds_no_secret_and_belongs_to_its_owner(recorded: tuple[Path, Any], tmp_path: Path) -> None:
    file, _ = recorded
    assert "secret-secret" not in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    other = tmp_path / "d.jsonl"
    model = RecordingModel(ScriptedModel([{"text": "the token is ghp_" + "a" * 30}]), other)
    secret = {"type": "object", "default": {"api_key": "0123456789abcdef"}}
    request = Request(
        model="m", messages=(user("AKIA" + "A" * 16),), tools=(ToolSpec("T", "", secret),), user_id="me"
    )
    list(model.stream(request, Cancel()))
    model.close()
    for text in ("ghp_", "AKIA", "0123456789abcdef"):
        assert text not in other.read_text()
    assert list(ReplayModel(other).stream(request, Cancel()))


def test_file_grows_with_the_session_not_with_its_square(tmp_path: Path) -> None:
    file = tmp_path / "c.jsonl"
    model = RecordingModel(ScriptedModel([{"text": "x", "repeat": 0}]), file)
    messages = [user("start")]
    tools = (ToolSpec("T", "d" * 2000, {}),)
    sizes = []
    for turn in range(60):
        list(model.stream(Request(model="m", messages=tuple(messages), tools=tools), Cancel()))
        messages += [assistant(f"a {turn}"), user(f"b {turn}")]
        sizes.append(file.stat().st_size)
    model.close()
    assert sizes[59] - sizes[49] < 1.2 * (sizes[19] - sizes[9])
    cassette = Cassette.load(file)
    assert len(cassette.requests[-1].messages) == 119
    assert cassette.requests[-1].hash == cassette.exchanges[-1].request.hash


def test_left_stream_is_recorded_as_cancelled(tmp_path: Path) -> None:
    file = tmp_path / "c.jsonl"
    model = RecordingModel(ScriptedModel([{"text": "abc", "chunk": 1}]), file)
    events = model.stream(Request(model="m", messages=(user("x"),)), Cancel())
    next(events)
    events.close()  # type: ignore[attr-defined]
    model.close()
    line = json.loads(file.read_text().splitlines()[1])
    assert (len(line["events"]), line["failure"]["kind"]) == (1, "cancelled")


def test_damaged_and_foreign_files(tmp_path: Path) -> None:
    file = tmp_path / "c.jsonl"
    with pytest.raises(FileError):
        ReplayModel(file)
    file.write_text('{"hello": 1}\n')
    with pytest.raises(ConfigError, match="not a cassette"):
        ReplayModel(file)
    file.write_text('{"cassette": 1}\n{"request": {"hash": "x", "base": 7}}\n')
    with pytest.raises(ConfigError, match="damaged"):
        ReplayModel(file)
    with pytest.raises(FileError):
        RecordingModel(ScriptedModel([]), tmp_path / "no" / "folder.jsonl")


def test_messages_read_back_as_messages(recorded: tuple[Path, Any]) -> None:
    for request in Cassette.load(recorded[0]).requests:
        for message in request.messages:
            assert msgspec.json.decode(message, type=Message)
