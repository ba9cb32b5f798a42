"""The observed hook outcomes, as far as they are decided by the hooks alone.

Each row is a set of hooks and what a session did with them. The hooks really run, in a shell. What a session
adds (rules, modes, the model's next request) stands here as three small functions, one for each moment.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checkrein.base.origin import Origin
from checkrein.dialects.codes import Log
from checkrein.dialects.hooks import read
from checkrein.runtime.hooks import payloads, payloads_calls
from checkrein.runtime.hooks.outcome import HookOutcome, same_shape
from checkrein.runtime.hooks.payloads import Common
from checkrein.runtime.hooks.ports import Surroundings
from checkrein.runtime.process.spawner import Spawner
from support.hooks import Fired

DATA = Path(__file__).parent / "data" / "hooks.jsonl"
ROWS = [json.loads(line) for line in DATA.read_text("utf-8").splitlines()]
BASH_OUTPUT = {
    "stdout": "hi",
    "stderr": "",
    "interrupted": False,
    "isImage": False,
    "noOutputExpected": False,
}


@pytest.fixture
def fire(spawner: Spawner, tmp_path: Path) -> Any:
    def fire(row: dict[str, Any], payload: dict[str, Any]) -> HookOutcome:
        found = read(row["hooks"], Origin("settings.json", "user"), Log())
        around = Surroundings(
            project_dir=str(tmp_path), session_id="s", env={"PATH": "/usr/local/bin:/usr/bin:/bin"}
        )
        runner = Fired(found, spawner=spawner, around=around)
        return runner.fire(payload["hook_event_name"], payload)

    return fire


def common(tmp_path: Path) -> Common:
    return Common(
        session_id="s",
        transcript_path=str(tmp_path / "t.jsonl"),
        cwd=str(tmp_path),
        prompt_id="p",
        permission_mode="default",
        effort="high",
    )


def rows_of(event: str) -> Any:
    chosen = [row for row in ROWS if list(row["hooks"]) == [event]]
    return pytest.mark.parametrize("row", chosen, ids=[row["name"] for row in chosen])


def command_of(row: dict[str, Any]) -> str:
    asks = "askcall" in row["name"] or row["permissions"] or row["name"].startswith("permreq")
    return "touch z" if asks else "echo hi"


def base_verdict(row: dict[str, Any]) -> tuple[str, bool]:
    """What rules and mode say without hooks, and whether a rule says it."""
    for behavior in ("deny", "ask", "allow"):
        if behavior in row["permissions"]:
            return behavior, True
    if "bypassPermissions" in row["args"] or command_of(row) == "echo hi":
        return "allow", False
    return "ask", False


def gate(row: dict[str, Any], outcome: HookOutcome) -> tuple[bool, str | None]:
    """(whether the tool runs, the refusal's words when a hook refuses)."""
    if outcome.verdict in ("deny", "ask"):
        return False, outcome.reason
    verdict, ruled = base_verdict(row)
    if outcome.verdict == "allow" and not (ruled and verdict != "allow"):
        return True, None
    return verdict == "allow", None


@rows_of("PreToolUse")
def test_before_a_call(row: dict[str, Any], fire: Any, tmp_path: Path) -> None:
    call = {"command": command_of(row), "description": "d"}
    outcome = fire(row, payloads_calls.pre_tool_use(common(tmp_path), "Bash", call, "toolu_1"))
    observed = row["observed"]
    runs, words = gate(row, outcome)
    if observed["tool_ran"] is None:
        assert runs
        assert not outcome.continue_
        assert outcome.stop_reason == "STOP_REASON"
        return
    assert runs == observed["tool_ran"]
    if words is not None:
        assert words == observed["tool_result"]
    seen = (words or "") + outcome.context_text
    if outcome.updated_input is not None and runs:
        assert outcome.updated_input["command"] == f"echo {observed['tool_result']}"
        seen += observed["tool_result"]
    assert all(marker in seen for marker in observed["markers_seen_by_model"])
    if not observed["markers_seen_by_model"]:
        assert not outcome.context_text


@rows_of("PostToolUse")
def test_after_a_call(row: dict[str, Any], fire: Any, tmp_path: Path) -> None:
    call = {"command": "echo hi", "description": "d"}
    payload = payloads_calls.post_tool_use(common(tmp_path), "Bash", call, "toolu_1", BASH_OUTPUT, 3)
    outcome = fire(row, payload)
    observed = row["observed"]
    if observed["model_requests"] == 1:
        assert not outcome.continue_
        assert outcome.stop_reason == "POST_STOP"
        return
    assert outcome.continue_
    seen = (outcome.reason if outcome.blocked else "") + outcome.context_text
    assert [marker for marker in observed["markers_seen_by_model"] if marker in seen] == observed[
        "markers_seen_by_model"
    ]
    if row["name"] == "post-updatedOutput":
        assert outcome.updated_output == "REWRITTEN"
        assert not same_shape(BASH_OUTPUT, outcome.updated_output), (
            "so the session keeps the tool's own output"
        )


@rows_of("UserPromptSubmit")
def test_a_prompt(row: dict[str, Any], fire: Any, tmp_path: Path) -> None:
    outcome = fire(row, payloads.user_prompt_submit(common(tmp_path), "go"))
    observed = row["observed"]
    assert outcome.blocked == (observed["model_requests"] == 0)
    if outcome.blocked:
        told = f"UserPromptSubmit operation blocked by hook:\n{outcome.reason}\n\nOriginal prompt: go"
        assert told == observed["result"]["result"]
    assert [c.text for c in outcome.additional_context] == observed["markers_seen_by_model"]


@rows_of("SessionStart")
def test_a_start(row: dict[str, Any], fire: Any, tmp_path: Path) -> None:
    outcome = fire(row, payloads.session_start(common(tmp_path), "startup"))
    assert not outcome.blocked
    assert [c.text for c in outcome.additional_context] == row["observed"]["markers_seen_by_model"]
    assert bool(outcome.errors) == (row["name"] == "session-exit2")


@rows_of("Stop")
def test_a_stop(row: dict[str, Any], fire: Any, tmp_path: Path) -> None:
    first = fire(row, payloads.stop(common(tmp_path), "DONE"))
    requests = 1 + first.keeps_going
    if first.keeps_going:
        assert not fire(row, payloads.stop(common(tmp_path), "DONE2", stop_hook_active=True)).keeps_going
    assert requests == row["observed"]["model_requests"]
    assert all(marker in first.reason for marker in row["observed"]["markers_seen_by_model"])


@rows_of("PermissionRequest")
def test_a_permission_request(row: dict[str, Any], fire: Any, tmp_path: Path) -> None:
    """The decision is read; a session without anyone to ask never fires the event."""
    outcome = fire(row, payloads_calls.permission_request(common(tmp_path), "Bash", {"command": "touch z"}))
    assert outcome.permission is not None
    assert outcome.permission.behavior == row["name"].removeprefix("permreq-")
    assert outcome.reason == ("PRD" if outcome.permission.behavior == "deny" else "")


def test_every_row_is_used() -> None:
    events = ("PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart", "Stop", "PermissionRequest")
    assert len(ROWS) == 71
    assert {event for row in ROWS for event in row["hooks"]} == set(events)
    assert all(len(row["hooks"]) == 1 for row in ROWS)
