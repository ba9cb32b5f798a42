"""What a run tells: the model learns what happened outside, programs get frames, people get warnings."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checkrein.testing import Call, Fault, Match, ScriptedServer, Turn
from support.lines import MODELS, Ran, checkrein, service, user

Write = Callable[[str, object], Path]
STREAM = ("--output-format", "stream-json", "--verbose")
DONE = Turn(text="done")


def bash(command: str, **more: Any) -> Turn:
    return Turn(tool_calls=(Call("Bash", {"command": command, **more}),))


def run(project: Path, server: ScriptedServer, *words: str, stdin: str | None = None, **env: str) -> Ran:
    start = () if stdin is not None else ("-p", "go")
    model = ("--model", MODELS["anthropic"], "--trust", "--allowedTools", "Bash")
    return checkrein(project, *start, *model, *words, env=service(server, **env), stdin=stdin)


def said(asked: Any) -> str:
    """What a request adds to the one before it: its last message."""
    return json.dumps(json.loads(asked.body)["messages"][-1])


class TestBackground:
    def test_the_end_of_a_command_is_told_and_framed(self, project: Path) -> None:
        turns = (
            bash("sleep 0.2; echo out; exit 3", run_in_background=True),
            bash("sleep 0.5"),
            bash("true"),
            DONE,
        )
        with ScriptedServer(turns) as server:
            ran = run(project, server, *STREAM)
            assert ran.status == 0, ran.err
            told = ["has ended: failed, exit code 3" in said(asked) for asked in server.requests]
        assert told.count(True) == 1
        assert not told[0]
        call = next(b for b in ran.of("assistant")[0]["message"]["content"] if b["type"] == "tool_use")["id"]
        (started,) = ran.of("system", "task_started")
        assert (started["task_type"], started["tool_use_id"]) == ("local_bash", call)
        (end,) = ran.of("system", "task_notification")
        assert (end["task_id"], end["tool_use_id"]) == (started["task_id"], call)
        assert end["status"] == "failed"
        assert Path(end["output_file"]).read_text() == "out\n"
        (updated,) = ran.of("system", "task_updated")
        assert updated["patch"]["status"] == "failed"
        changes = ran.of("system", "background_tasks_changed")
        assert [[task["task_id"] for task in one["tasks"]] for one in changes] == [[end["task_id"]], []]

    def test_the_next_prompt_tells_it_too(self, project: Path) -> None:
        turns = (bash("sleep 0.3", run_in_background=True), DONE, bash("sleep 0.5"), DONE, DONE)
        with ScriptedServer(turns) as server:
            ran = run(project, server, *STREAM, "--input-format", "stream-json", stdin=user("a") + user("b"))
            assert ran.status == 0, ran.err
            told = ["has ended: completed" in said(asked) for asked in server.requests]
        assert told == [False, False, False, True]

    def test_a_stopped_command_is_framed_once(self, project: Path) -> None:
        stop = Turn(tool_calls=(Call("TaskStop", {"task_id": "bash_1"}),))
        with ScriptedServer((bash("sleep 60", run_in_background=True), stop, bash("true"), DONE)) as server:
            ran = run(project, server, *STREAM)
            assert not any("has ended" in said(asked) for asked in server.requests)
        assert [one["status"] for one in ran.of("system", "task_notification")] == ["stopped"]

    def test_a_resumed_session_says_that_it_ended(self, project: Path) -> None:
        turns = (bash("sleep 60", run_in_background=True), DONE, DONE, DONE)
        with ScriptedServer(turns) as server:
            run(project, server)
            run(project, server, "--continue")
            run(project, server, "--continue")
            told = ["ended when the session was left: bash_1 (sleep 60)" in said(a) for a in server.requests]
        assert told == [False, False, True, False]


class TestFrames:
    def test_status_and_the_time_to_the_first_token(self, project: Path) -> None:
        slow = Turn(text="a b c d", chunk=1, pace=0.1, delay=0.2)
        with ScriptedServer((slow,)) as server:
            ran = run(project, server, *STREAM, "--include-partial-messages")
        (status,) = ran.of("system", "status")
        assert status["status"] == "requesting"
        events = ran.of("stream_event")
        (first,) = [frame for frame in events if "ttft_ms" in frame]
        assert first["event"]["type"] == "message_start"
        assert 150 <= first["ttft_ms"] < 600
        (result,) = ran.of("result")
        assert 150 <= result["ttft_ms"] < 600 < result["duration_ms"]

    def test_without_partial_messages_there_is_no_status(self, project: Path) -> None:
        with ScriptedServer((DONE,)) as server:
            assert run(project, server, *STREAM).of("system", "status") == []

    def test_compaction_has_a_status(self, project: Path) -> None:
        summary = Turn(text="S", when=Match(text="Write a summary"))
        with ScriptedServer((DONE, summary)) as server:
            prompts = user("a") + user("/compact")
            ran = run(project, server, *STREAM, "--input-format", "stream-json", stdin=prompts)
        kinds = [frame.get("subtype") for frame in ran.frames if frame["type"] == "system"]
        assert [one["status"] for one in ran.of("system", "status")] == ["compacting", None]
        assert kinds.index("status") < kinds.index("compact_boundary")


HINTS = {
    401: "Check the key or token",
    402: "Add credit or raise the spending limit",
    404: "Check the model's name and the base URL",
}


@pytest.mark.parametrize("wire", MODELS)
@pytest.mark.parametrize("status", HINTS)
def test_a_refusal_comes_with_its_hint(project: Path, wire: str, status: int) -> None:
    turns = (Turn(fault=Fault(status=status)),) * 2
    with ScriptedServer(turns) as server:
        words = ("-p", "go", "--model", MODELS[wire])
        text = checkrein(project, *words, env=service(server))
        value = checkrein(project, *words, "--output-format", "json", env=service(server))
    assert text.status == value.status == 1
    assert HINTS[status] in text.err
    (result,) = value.frames
    assert HINTS[status] in result["result"]
    assert result["api_error_status"] == status


HOOKED = ("PreToolUse", "PostToolUse", "PostToolBatch", "Stop")


class TestEffort:
    def hooks(self, write: Write, log: Path) -> None:
        hook = {"hooks": [{"type": "command", "command": f'cat >> "{log}"; echo >> "{log}"'}]}
        write(".claude/settings.json", {"hooks": {key: [hook] for key in (*HOOKED, "UserPromptSubmit")}})

    @pytest.mark.parametrize(("words", "level"), [((), "high"), (("--effort", "max"), "max")])
    def test_hooks_of_calls_and_the_end_learn_the_effort(
        self, project: Path, write: Write, tmp_path: Path, words: tuple[str, ...], level: str
    ) -> None:
        log = tmp_path / "log"
        self.hooks(write, log)
        with ScriptedServer((bash("true"), DONE)) as server:
            run(project, server, *words)
        inputs = [json.loads(line) for line in log.read_text().splitlines() if line]
        found = {one["hook_event_name"]: one.get("effort") for one in inputs}
        assert found == {"UserPromptSubmit": None, **{key: {"level": level} for key in HOOKED}}

    def test_a_skill_changes_it(self, project: Path, write: Write, tmp_path: Path) -> None:
        log = tmp_path / "log"
        self.hooks(write, log)
        write(".claude/skills/s/SKILL.md", "---\ndescription: d\neffort: low\n---\ntext")
        load = Turn(tool_calls=(Call("Skill", {"skill": "s"}),))
        with ScriptedServer((load, bash("true"), DONE)) as server:
            run(project, server, "--allowedTools", "Skill")
        inputs = [json.loads(line) for line in log.read_text().splitlines() if line]
        levels = [one["effort"]["level"] for one in inputs if one["hook_event_name"] == "PreToolUse"]
        assert levels == ["high", "low"]


class TestWarnings:
    @pytest.mark.parametrize("form", ["text", "json"])
    def test_the_trust_warning_is_on_standard_error(self, project: Path, write: Write, form: str) -> None:
        hook = {"hooks": [{"type": "command", "command": "true"}]}
        write(".claude/settings.json", {"hooks": {"Stop": [hook]}})
        with ScriptedServer((DONE,)) as server:
            words = ("-p", "go", "--model", MODELS["anthropic"], "--output-format", form)
            ran = checkrein(project, *words, env=service(server))
        assert "1 thing(s) of this project do not count" in ran.err
        assert "checkrein trust" in ran.err
        assert "do not count" not in ran.out
        assert ran.status == 0

    @pytest.mark.parametrize(
        "event", ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"]
    )
    def test_a_failing_hook_is_named_once(self, project: Path, write: Write, event: str) -> None:
        hook = {"hooks": [{"type": "command", "command": "echo why >&2; exit 5"}]}
        write(".claude/settings.json", {"hooks": {event: [hook]}})
        with ScriptedServer((bash("true"), DONE)) as server:
            ran = run(project, server)
        lines = [line for line in ran.err.splitlines() if event in line]
        assert len(lines) == 1
        assert "failed (status 5): why" in lines[0]
        assert ran.out == "done\n"

    def test_a_hook_that_takes_too_long(self, project: Path, write: Write) -> None:
        hook = {"hooks": [{"type": "command", "command": "sleep 20", "timeout": 1}]}
        write(".claude/settings.json", {"hooks": {"Stop": [hook]}})
        with ScriptedServer((DONE,)) as server:
            ran = run(project, server)
        assert "The hook Stop failed" in ran.err

    def test_a_hook_can_not_write_to_the_terminal(self, project: Path, write: Write) -> None:
        hook = {"hooks": [{"type": "command", "command": r"printf '\033]0;x\007boo\n' >&2; exit 7"}]}
        write(".claude/settings.json", {"hooks": {"Stop": [hook]}})
        with ScriptedServer((DONE,)) as server:
            ran = run(project, server)
        assert "\x1b" not in ran.err
        assert "boo" in ran.err

    def test_a_hook_that_decides_does_not_fail(self, project: Path, write: Write) -> None:
        hook = {"hooks": [{"type": "command", "command": "echo no >&2; exit 2"}]}
        write(".claude/settings.json", {"hooks": {"PreToolUse": [hook]}})
        with ScriptedServer((bash("true"), DONE)) as server:
            assert run(project, server).err == ""

    def test_frames_say_it_and_standard_error_stays_empty(self, project: Path, write: Write) -> None:
        hook = {"hooks": [{"type": "command", "command": "exit 5"}]}
        write(".claude/settings.json", {"hooks": {"PreToolUse": [hook]}})
        with ScriptedServer((bash("true"), DONE)) as server:
            ran = run(project, server, *STREAM)
        assert ran.err == ""


def test_a_program_registers_a_directory(project: Path, write: Write, tmp_path: Path) -> None:
    log, other = tmp_path / "log", tmp_path / "other"
    other.mkdir()
    hook = {"hooks": [{"type": "command", "command": f'cat >> "{log}"'}]}
    write(".claude/settings.json", {"hooks": {"DirectoryAdded": [hook]}})
    request = {"subtype": "register_repo_root", "directory": str(other)}
    frame = json.dumps({"type": "control_request", "request_id": "r1", "request": request}) + "\n"
    with ScriptedServer((DONE,)) as server:
        ran = run(project, server, *STREAM, "--input-format", "stream-json", stdin=frame + user("go"))
        assert str(other) in said(server.requests[0])
    (answer,) = ran.of("control_response")
    assert answer["response"]["subtype"] == "success"
    told = json.loads(log.read_text())
    assert (told["directory"], told["source"]) == (str(other), "register_repo_root")
