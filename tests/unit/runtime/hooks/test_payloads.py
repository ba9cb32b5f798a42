"""Standard input of hooks: recorded shapes, every event."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import pytest

from checkrein.facts.claude_hooks import HOOK_EVENTS
from checkrein.runtime.hooks import payloads as p
from checkrein.runtime.hooks import payloads_calls as c
from checkrein.runtime.hooks.payloads import Common, matcher_value

SHAPES = json.loads(
    (Path(__file__).parents[3] / "conformance" / "data" / "hook_stdin.json").read_text("utf-8")
)
MAIN = Common(
    session_id="s", transcript_path="/t", cwd="/p", prompt_id="1", permission_mode="default", effort="high"
)
CHILD = Common(
    session_id="s",
    transcript_path="/t",
    cwd="/p",
    prompt_id="1",
    permission_mode="default",
    effort="high",
    agent_id="a",
    agent_type="Explore",
)
BASH = {"command": "x", "description": "y"}
BASH_OUT = {"stdout": "", "stderr": "", "interrupted": False, "isImage": False, "noOutputExpected": False}
READ_OUT = {
    "type": "text",
    "file": {"filePath": "/f", "content": "", "numLines": 1, "startLine": 1, "totalLines": 1},
}
AGENT = {"description": "d", "prompt": "p", "subagent_type": "Explore"}

MADE: dict[str, dict[str, Any]] = {
    "SessionStart": p.session_start(MAIN, "startup"),
    "Setup": p.setup(MAIN, "init"),
    "InstructionsLoaded": p.instructions_loaded(MAIN, "/p/CLAUDE.md", "Project", "session_start"),
    "UserPromptSubmit": p.user_prompt_submit(MAIN, "go"),
    "UserPromptExpansion": p.user_prompt_expansion(MAIN, "slash_command", "t", "a", "project", "/t a"),
    "MessageDisplay": p.message_display(MAIN, "t1", "m1", "text"),
    "PreToolUse:Bash": c.pre_tool_use(MAIN, "Bash", BASH, "toolu_1"),
    "PreToolUse:Read": c.pre_tool_use(MAIN, "Read", {"file_path": "/f"}, "toolu_1"),
    "PreToolUse:Agent": c.pre_tool_use(MAIN, "Agent", AGENT, "toolu_1"),
    "PermissionRequest": c.permission_request(MAIN, "Bash", BASH, [{"type": "addRules"}]),
    "PermissionDenied": c.permission_denied(MAIN, "Bash", BASH, "toolu_1", "why"),
    "PostToolUse:Read": c.post_tool_use(MAIN, "Read", {"file_path": "/f"}, "toolu_1", READ_OUT, 3),
    "PostToolUse:Bash": c.post_tool_use(MAIN, "Bash", BASH, "toolu_1", BASH_OUT, 3),
    "PostToolUseFailure:Bash": c.post_tool_use_failure(MAIN, "Bash", BASH, "toolu_1", "e", duration_ms=3),
    "PostToolBatch": c.post_tool_batch(MAIN, [c.batch_call("Bash", BASH, "toolu_1", "hi")]),
    "Notification": p.notification(MAIN, "m", "idle_prompt", title="t"),
    "SubagentStart": p.subagent_start(CHILD),
    "SubagentStop": p.subagent_stop(CHILD, "/a", "done"),
    "TaskCreated": c.task_created(MAIN, "1", "s"),
    "TaskCompleted": c.task_completed(MAIN, "1", "s", task_description="d"),
    "TeammateIdle": c.teammate_idle(MAIN, "ann", "team"),
    "Stop": p.stop(MAIN, "done"),
    "StopFailure": p.stop_failure(MAIN, "rate_limit", "done"),
    "PreCompact": p.pre_compact(MAIN, "auto"),
    "PostCompact": p.post_compact(MAIN, "auto", "sum"),
    "SessionEnd": p.session_end(MAIN, "other"),
    "ConfigChange": p.config_change(MAIN, "user_settings", "/s"),
    "CwdChanged": p.cwd_changed(MAIN, "/a", "/b"),
    "DirectoryAdded": p.directory_added(MAIN, "/d", "slash_command"),
    "FileChanged": p.file_changed(MAIN, "/p/.env", "change"),
    "WorktreeCreate": p.worktree_create(MAIN, "w"),
    "WorktreeRemove": p.worktree_remove(MAIN, "/w"),
    "Elicitation": c.elicitation(MAIN, "srv", "m"),
    "ElicitationResult": c.elicitation_result(MAIN, "srv", "accept"),
}
FIELDS = {
    "Setup": {"trigger"},
    "UserPromptExpansion": {"expansion_type", "command_name", "command_args", "command_source", "prompt"},
    "MessageDisplay": {"turn_id", "message_id", "index", "final", "delta"},
    "PermissionRequest": {"tool_name", "tool_input", "permission_suggestions"},
    "PermissionDenied": {"tool_name", "tool_input", "tool_use_id", "reason"},
    "Notification": {"message", "title", "notification_type"},
    "TaskCreated": {"task_id", "task_subject"},
    "TaskCompleted": {"task_id", "task_subject", "task_description"},
    "TeammateIdle": {"teammate_name", "team_name"},
    "StopFailure": {"error", "last_assistant_message"},
    "PreCompact": {"trigger", "custom_instructions"},
    "PostCompact": {"trigger", "compact_summary"},
    "ConfigChange": {"source", "file_path"},
    "CwdChanged": {"old_cwd", "new_cwd"},
    "DirectoryAdded": {"directory", "source"},
    "FileChanged": {"file_path", "event"},
    "WorktreeCreate": {"name"},
    "WorktreeRemove": {"worktree_path"},
    "Elicitation": {"mcp_server_name", "message"},
    "ElicitationResult": {"mcp_server_name", "action"},
}
COMMON = {"session_id", "transcript_path", "cwd", "hook_event_name", "prompt_id", "permission_mode", "effort"}


def shape(value: Any) -> Any:
    names = {str: "string", bool: "bool", int: "int"}
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    return names[type(value)]


@pytest.mark.parametrize("name", [name for name in SHAPES if name != "PostToolUse:Agent"])
def test_recorded_shape(name: str) -> None:
    """The same keys in the same order, and values of the same kind."""
    recorded, made = SHAPES[name], MADE[name]
    assert list(made) == list(recorded)
    for key, value in recorded.items():
        if isinstance(value, list):
            assert isinstance(made[key], list)
            assert [list(item) for item in made[key]] == [list(item) for item in value]
        else:
            assert shape(made[key]) == value, key


@pytest.mark.parametrize("event", sorted(HOOK_EVENTS))
def test_every_event_has_its_input(event: str) -> None:
    made = [value for key, value in MADE.items() if key.partition(":")[0] == event]
    assert made
    for payload in made:
        assert payload["hook_event_name"] == event
        assert {"session_id", "transcript_path", "cwd"} <= set(payload)
        if event in FIELDS:
            assert set(payload) - COMMON == FIELDS[event]


def test_there_are_31_events_and_no_other_functions() -> None:
    assert len(HOOK_EVENTS) == 31
    functions = {
        name
        for module in (p, c)
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__ and "common" in inspect.signature(function).parameters
    } - {"make", "_task"}
    assert len(functions) == 31


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SessionStart", "startup"),
        ("PreToolUse:Bash", "Bash"),
        ("FileChanged", ".env"),
        ("SubagentStop", "Explore"),
        ("Elicitation", "srv"),
        ("Stop", None),
        ("UserPromptSubmit", None),
    ],
)
def test_what_a_matcher_is_compared_with(name: str, value: str | None) -> None:
    assert matcher_value(name.partition(":")[0], MADE[name]) == value


def test_a_call_inside_a_subagent_names_it() -> None:
    payload = c.pre_tool_use(CHILD, "Bash", BASH, "toolu_1")
    assert (payload["agent_id"], payload["agent_type"]) == ("a", "Explore")
