"""The documented fields of each verb, by name and type, in both schema versions.

The golden files hold what the commands really answer (test_machine_table compares them); here they are
compared with the protocol's own lists.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checkrein.protocol.machine.verbs import MACHINE

GOLDEN = Path(__file__).parent / "data" / "machine"
NULL = type(None)
Fields = dict[str, type | tuple[type, ...]]

MATCH: Fields = {"kind": str, "name": str, "score": int, "source_hint": str}
NAMED: Fields = {"name": str, "source_hint": str}
TURN: Fields = {
    "prompt": str,
    "output": str,
    "stop_reason": str,
    "cancel_observed": bool,
    "matched_commands": list,
    "matched_tools": list,
}
SHOWN: Fields = {"name": str, "found": bool, "source_hint": str, "responsibility": str}
SESSION: Fields = {
    "session_id": str,
    "created_at": str,
    "last_modified": str,
    "prompt_count": int,
    "stopped": bool,
}

# golden file -> fields of the payload, in 1.0 at the top level and in 2.0 under `data`
BOTH: dict[str, Fields] = {
    "list-sessions.success": {"directory": str, "sessions_count": int, "sessions": list},
    "delete-session.success": {"session_id": str, "deleted": bool, "status": str, "directory": str},
    "load-session.success": {
        "session_id": str,
        "loaded": bool,
        "messages_count": int,
        "input_tokens": int,
        "output_tokens": int,
        "directory": str,
        "path": str,
    },
    "flush-transcript.success": {
        "session_id": str,
        "path": str,
        "flushed": bool,
        "messages_count": int,
        "input_tokens": int,
        "output_tokens": int,
    },
    "show-command.success": SHOWN,
    "show-tool.success": SHOWN,
    "exec-command.success": {
        "name": str,
        "prompt": str,
        "source_hint": str,
        "handled": bool,
        "message": str,
    },
    "exec-tool.success": {"name": str, "payload": str, "source_hint": str, "handled": bool, "message": str},
    "route.success": {"prompt": str, "limit": int, "match_count": int, "matches": list},
    "bootstrap.success": {
        "prompt": str,
        "limit": int,
        "setup": dict,
        "routed_matches": list,
        "command_execution_messages": list,
        "tool_execution_messages": list,
        "turn": dict,
        "persisted_session_path": str,
        "session_id": str,
        "usage": dict,
        "permission_denials": list,
    },
    "command-graph.success": {
        "builtins_count": int,
        "plugin_like_count": int,
        "skill_like_count": int,
        "total_count": int,
        "builtins": list,
        "plugin_like": list,
        "skill_like": list,
    },
    "tool-pool.success": {"simple_mode": bool, "include_mcp": bool, "tool_count": int, "tools": list},
    "bootstrap-graph.success": {"stages": list, "note": str},
    "turn-loop.success": {
        "prompt": str,
        "max_turns": int,
        "turns_completed": int,
        "timeout_seconds": (float, NULL),
        "continuation_prompt": (str, NULL),
        "turns": list,
        "final_stop_reason": (str, NULL),
        "final_cancel_observed": bool,
        "session_id": str,
        "usage": dict,
        "permission_denials": list,
    },
}


def golden(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    documents = json.loads((GOLDEN / f"{name}.json").read_text("utf-8"))
    return documents["2.0"], documents["1.0"]


def has(value: dict[str, Any], fields: Fields) -> None:
    for name, kind in fields.items():
        assert isinstance(value[name], kind), name


def test_every_machine_verb_has_its_list() -> None:
    assert {name.partition(".")[0] for name in BOTH} == set(MACHINE)


@pytest.mark.parametrize("name", BOTH)
def test_payload(name: str) -> None:
    new, old = golden(name)
    has(new["data"], BOTH[name])
    has(old, BOTH[name])
    assert old["kind"] == name.partition(".")[0]


def test_sessions_are_rows_in_2_0_and_ids_in_1_0() -> None:
    new, old = golden("list-sessions.success")
    for row in new["data"]["sessions"]:
        has(row, SESSION)
    assert old["sessions"] == sorted(row["session_id"] for row in new["data"]["sessions"])
    assert old["count"] == len(old["sessions"]) == new["data"]["sessions_count"]
    assert old["session_details"] == new["data"]["sessions"]


@pytest.mark.parametrize(("name", "field"), [("route", "matches"), ("bootstrap", "routed_matches")])
def test_matches(name: str, field: str) -> None:
    new, old = golden(f"{name}.success")
    assert new["data"][field]
    for match in new["data"][field]:
        has(match, {**MATCH, "reasons": list})
        assert match["kind"] in ("command", "skill", "tool")
    for match in old[field]:
        assert set(match) == set(MATCH)
        assert match["kind"] in ("command", "tool")


def test_a_match_count_is_the_number_of_matches() -> None:
    for outcome in ("success", "no_match", "empty"):
        data = golden(f"route.{outcome}")[0]["data"]
        assert data["match_count"] == len(data["matches"])


def test_graph_counts_add_up_and_entries_have_two_fields() -> None:
    data = golden("command-graph.success")[0]["data"]
    groups = ("builtins", "plugin_like", "skill_like")
    assert data["total_count"] == sum(data[f"{group}_count"] for group in groups)
    for group in groups:
        assert data[f"{group}_count"] == len(data[group])
        assert all(set(entry) == set(NAMED) for entry in data[group])
    pool = golden("tool-pool.success")[0]["data"]
    assert pool["tool_count"] == len(pool["tools"])
    assert all(set(entry) == set(NAMED) for entry in pool["tools"])


def test_stages_are_objects_in_2_0_and_titles_in_1_0() -> None:
    new, old = golden("bootstrap-graph.success")
    fields: Fields = {"id": str, "title": str, "depends_on": list, "status": str, "elapsed_ms": int}
    for stage in new["data"]["stages"]:
        has(stage, fields)
    assert old["stages"] == [stage["title"] for stage in new["data"]["stages"]]


def test_the_setup_and_the_turn_of_a_bootstrap() -> None:
    data = golden("bootstrap.success")[0]["data"]
    setup: Fields = {"python_version": str, "implementation": str, "platform_name": str, "test_command": str}
    has(data["setup"], setup)
    has(data["turn"], {name: TURN[name] for name in ("prompt", "output", "stop_reason", "cancel_observed")})
    assert data["command_execution_messages"] == ["greet: expanded"]
    assert data["tool_execution_messages"] == ["Read: done"]


@pytest.mark.parametrize("outcome", ["success", "denied", "timeout", "budget", "no_time", "tool_rounds"])
def test_turns(outcome: str) -> None:
    new, old = golden(f"turn-loop.{outcome}")
    data = new["data"]
    assert data["turns_completed"] == len(data["turns"])
    for turn in data["turns"]:
        has(turn, {**TURN, "usage": dict, "permission_denials": list})
    assert data["final_stop_reason"] == data["turns"][-1]["stop_reason"]
    assert data["final_cancel_observed"] == data["turns"][-1]["cancel_observed"]
    assert (new["exit_code"] == 2) is (data["final_stop_reason"] == "timeout")
    assert old["turns"] == data["turns"]


def test_no_turns_have_no_reason() -> None:
    data = golden("turn-loop.no_turns")[0]["data"]
    assert (data["turns"], data["final_stop_reason"], data["final_cancel_observed"]) == ([], None, False)


NOT_FOUND: list[tuple[str, str, dict[str, Any]]] = [
    ("load-session.not_found", "session_not_found", {"loaded": False}),
    ("load-session.corrupt", "session_load_failed", {"loaded": False}),
    ("delete-session.corrupt", "session_delete_failed", {"deleted": False}),
    ("show-command.not_found", "command_not_found", {"found": False}),
    ("show-tool.not_found", "tool_not_found", {"found": False}),
    ("exec-command.not_found", "command_not_found", {"handled": False}),
    ("exec-tool.not_found", "tool_not_found", {"handled": False}),
]


@pytest.mark.parametrize(("name", "kind", "told"), NOT_FOUND, ids=[name for name, _, _ in NOT_FOUND])
def test_what_is_known_of_a_failure(name: str, kind: str, told: dict[str, Any]) -> None:
    new, old = golden(name)
    assert new["error"]["kind"] == old["kind"] == old["error"]["kind"] == kind
    assert "data" not in new
    for field, value in told.items():
        assert new["error"]["details"][field] is value
        assert old[field] is value
    assert "source_hint" not in old
    assert "responsibility" not in old


def test_deleting_what_is_not_there_is_a_success() -> None:
    new, old = golden("delete-session.missing")
    assert (new["exit_code"], old["exit_code"]) == (0, 0)
    assert (new["data"]["deleted"], new["data"]["status"]) == (False, "not_found")
    assert "error" not in old


def test_a_load_failure_names_the_directory() -> None:
    new, old = golden("load-session.not_found")
    assert new["error"]["details"]["directory"] == old["error"]["directory"] == "‹base›/store"
    assert not new["error"]["message"].startswith(('"', "'"))
