"""Frames of `--output-format stream-json` have the keys and types that Claude Code was seen to print."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checkrein.cli.main import run
from checkrein.testing import ScriptedServer

DATA = Path(__file__).parent / "data" / "shapes.json"
SHAPES: dict[str, Any] = json.loads(DATA.read_text())["stream_json"]
NOT_YET = {
    "system/task_started": "the recorded one is a subagent's: a command has no prompt and no type of agent",
}
HOOK = {"type": "command", "command": "printf ctx"}


def kind_of(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int"
    if isinstance(value, float):
        return "number"
    return "string" if isinstance(value, str) else "object" if isinstance(value, dict) else "list"


def problems(shape: Any, value: Any, path: str = "$") -> list[str]:
    """Where a value differs from a shape. Numbers may be whole; a null may stand where nothing was seen."""
    if isinstance(shape, str):
        found = kind_of(value)
        fits = found == shape or {found, shape} <= {"int", "number"} or shape == "null" or found == "null"
        return (
            []
            if fits or (shape == "object" and isinstance(value, dict))
            else [f"{path}: {found}, not {shape}"]
        )
    if isinstance(shape, list):
        if not isinstance(value, list):
            return [f"{path}: {kind_of(value)}, not a list"]
        return [p for item in value for p in (problems(shape[0], item, f"{path}[]") if shape else [])]
    if not isinstance(value, dict):
        return [f"{path}: {kind_of(value)}, not an object"]
    if path.endswith((".modelUsage", ".tool_use_result", ".message.content[]", ".event")):
        return []
    missing = [f"{path}.{key} is missing" for key in shape if key not in value]
    deeper = [p for key in shape if key in value for p in problems(shape[key], value[key], f"{path}.{key}")]
    return missing + deeper


def name_of(frame: dict[str, Any]) -> str:
    return f"{frame['type']}/{frame['subtype']}" if "subtype" in frame else frame["type"]


@pytest.fixture
def frames(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]):
    project = tmp_path / "project"
    (project / ".claude").mkdir(parents=True)
    (project / ".git").mkdir()
    (project / "a.txt").write_text("alpha\n")
    hooks = {"SessionStart": [{"hooks": [HOOK]}], "PreToolUse": [{"hooks": [HOOK]}]}
    (project / ".claude" / "settings.json").write_text(json.dumps({"hooks": hooks}))
    monkeypatch.chdir(project)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "x")

    def play(turns: list[dict[str, Any]], *arguments: str) -> list[dict[str, Any]]:
        with ScriptedServer(turns) as server:
            monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
            command = [
                "-p",
                "go",
                "--model",
                "anthropic:m",
                "--output-format",
                "stream-json",
                "--verbose",
                "--trust",
            ]
            run([*command, *arguments])
        return [json.loads(line) for line in capfdbinary.readouterr().out.splitlines()]

    return play


READ = {"tool_calls": [{"name": "Read", "input": {"file_path": "a.txt"}}]}
BACKGROUND = {"tool_calls": [{"name": "Bash", "input": {"command": "true", "run_in_background": True}}]}
WAIT = {"tool_calls": [{"name": "Bash", "input": {"command": "sleep 0.5"}}]}
ALL = ("--include-partial-messages", "--include-hook-events", "--replay-user-messages")


def test_every_frame_has_its_shape(frames) -> None:
    found = frames([READ, BACKGROUND, WAIT, {"text": "done"}], *ALL, "--allowedTools", "Bash")
    seen = {name_of(frame) for frame in found}
    assert {
        "system/init",
        "assistant",
        "user",
        "stream_event",
        "result/success",
        "system/hook_started",
        "system/hook_response",
        "system/status",
        "system/task_updated",
        "system/task_notification",
    } <= seen
    for frame in found:
        shape = {} if name_of(frame) in NOT_YET else dict(SHAPES.get(name_of(frame), {}))
        if name_of(frame) == "user" and "tool_use_result" not in frame:
            shape.pop("tool_use_result")
        if name_of(frame) == "stream_event" and frame["event"]["type"] != "message_start":
            shape.pop("ttft_ms")
        assert problems(shape, frame) == [], name_of(frame)


def test_the_limit_frame(frames) -> None:
    found = frames([READ, {"text": "never"}], "--max-turns", "1")
    assert name_of(found[-1]) == "result/error_max_turns"
    assert problems(SHAPES["result/error_max_turns"], found[-1]) == []


def test_every_recorded_kind_is_emitted_or_explained(frames) -> None:
    turns = [READ, BACKGROUND, WAIT, {"text": "done"}]
    found = {name_of(frame) for frame in frames(turns, *ALL, "--allowedTools", "Bash")}
    found |= {name_of(frame) for frame in frames([READ, {"text": "x"}], "--max-turns", "1")}
    assert set(SHAPES) - found <= set(NOT_YET)


def test_one_result_and_it_is_last(frames) -> None:
    found = frames([{"text": "done"}])
    assert [name_of(frame) for frame in found].count("result/success") == 1
    assert found[-1]["type"] == "result"
    assert found[0]["subtype"] in ("init", "hook_started")


def test_partial_events_rebuild_the_message(frames) -> None:
    found = frames([{"text": "hello world", "chunk": 3}], "--include-partial-messages")
    events = [frame["event"] for frame in found if frame["type"] == "stream_event"]
    assert events[0]["type"] == "message_start"
    assert events[-1]["type"] == "message_stop"
    text = "".join(e["delta"]["text"] for e in events if e["type"] == "content_block_delta")
    assert text == "hello world"
