from __future__ import annotations

from typing import Any

import pytest
from msgspec import UNSET

from checkrein.base.origin import Origin
from checkrein.runtime.hooks.outcome import HookRecord, merge, same_shape
from checkrein.runtime.hooks.output import Answer, Permission, Specific


def record(order: int = 0, name: str = "PreToolUse:Bash", **answer: Any) -> HookRecord:
    origin = Origin(f"/{order}.json", "user")
    return HookRecord(
        hook_id=str(order), name=name, type="command", origin=origin, answer=Answer(**answer), order=order
    )


def test_of_several_inputs_the_last_to_arrive_counts() -> None:
    early = record(0, specific=Specific(updated_input={"a": 1}))
    late = record(1, specific=Specific(updated_input={"a": 2}))
    assert merge("PreToolUse", {}, [late, early]).updated_input == {"a": 2}
    assert merge("PreToolUse", {}, [early, late]).updated_input == {"a": 2}


def test_reasons_of_the_winning_decision_only() -> None:
    found = merge(
        "PreToolUse",
        {},
        [
            record(0, verdict="allow", reason="fine"),
            record(1, verdict="deny", reason="one"),
            record(2, verdict="deny", reason="two"),
            record(3, verdict="deny", reason="one"),
        ],
    )
    assert (found.verdict, found.reason) == ("deny", "one\ntwo")
    assert found.origin == Origin("/1.json", "user")


def test_a_refusal_by_exit_status_names_the_hook() -> None:
    found = merge("PreToolUse", {}, [record(verdict="deny", reason="[x]: no", by_status=True)])
    assert found.reason == "PreToolUse:Bash hook error: [x]: no"
    found = merge("Stop", {}, [record(name="Stop", blocked=True, reason="[x]: no", by_status=True)])
    assert found.reason == "[x]: no"


def test_contexts_messages_and_errors_are_all_kept_in_order() -> None:
    found = merge(
        "Stop",
        {},
        [
            record(2, context="a", system_message="m"),
            record(1, error="e"),
            record(0, context="b", specific=Specific(watch_paths=["/x", "/y"])),
            record(3, specific=Specific(watch_paths=["/y"])),
        ],
    )
    assert [c.text for c in found.additional_context] == ["a", "b"]
    assert found.system_messages == ("m",)
    assert found.errors == ("PreToolUse:Bash hook error: e",)
    assert found.watch_paths == ("/x", "/y")
    assert found.keeps_going


def test_stopping_beats_going_on() -> None:
    found = merge(
        "Stop", {}, [record(blocked=True, reason="more"), record(1, ends_turn=True, stop_reason="no")]
    )
    assert not found.keeps_going
    assert found.stop_reason == "no"


def test_a_denied_permission_beats_an_allowed_one() -> None:
    allow = record(
        specific=Specific(decision=Permission("allow", updated_permissions=[{"type": "addRules"}]))
    )
    deny = record(1, specific=Specific(decision=Permission("deny", message="no", interrupt=True)))
    found = merge("PermissionRequest", {}, [allow, deny])
    assert found.permission == Permission("deny", message="no", interrupt=True)
    assert found.reason == "no"
    assert merge("PermissionRequest", {}, [allow]).permission == allow.answer.specific.decision


def test_managed_settings_can_not_be_held_back() -> None:
    hook = record(name="ConfigChange", blocked=True, reason="no")
    assert merge("ConfigChange", {"source": "user_settings"}, [hook]).blocked
    assert not merge("ConfigChange", {"source": "policy_settings"}, [hook]).blocked


@pytest.mark.parametrize(
    ("answers", "action"),
    [
        ([{"specific": Specific(action="accept", content={"a": 1})}], "accept"),
        ([{"specific": Specific(action="accept")}, {"specific": Specific(action="cancel")}], "cancel"),
        ([{"blocked": True}], "decline"),
        ([{}], None),
    ],
)
def test_elicitations(answers: list[dict[str, Any]], action: str | None) -> None:
    records = [record(i, name="Elicitation:srv", **fields) for i, fields in enumerate(answers)]
    found = merge("Elicitation", {}, records).elicited
    assert (found.action if found else None) == action


def test_a_worktree_is_the_last_line() -> None:
    assert merge("WorktreeCreate", {}, [record(text="making\n/w/tree\n")]).worktree_path == "/w/tree"
    field = record(specific=Specific(worktree_path="/from/json"))
    assert merge("WorktreeCreate", {}, [field]).worktree_path == "/from/json"
    assert merge("WorktreeRemove", {}, [record(text="/w")]).worktree_path is None


def test_single_fields() -> None:
    specific = Specific(
        retry=True,
        session_title="t",
        initial_user_message="go",
        suppress_original_prompt=True,
        display_content="d",
        classifier_context="c" * 3000,
        reload_skills=True,
    )
    found = merge("SessionStart", {}, [record(specific=specific)])
    assert (found.retry, found.session_title, found.initial_user_message) == (True, "t", "go")
    assert (found.suppress_original_prompt, found.display_content, found.reload_skills) == (True, "d", True)
    assert len(found.classifier_context) == 2000


def test_rewritten_output() -> None:
    assert merge("PostToolUse", {}, [record()]).updated_output is UNSET
    newer = record(specific=Specific(updated_tool_output=None))
    assert merge("PostToolUse", {}, [newer]).updated_output is None
    older = record(specific=Specific(updated_mcp_tool_output="x"))
    assert merge("PostToolUse", {}, [older]).updated_output == "x"


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ({"stdout": "a", "n": 1}, {"stdout": "b", "n": 2.5}, True),
        ({"stdout": "a"}, "b", False),
        ({"stdout": "a"}, {"other": "b"}, False),
        ({"stdout": "a"}, {"stdout": True}, False),
        ("a", "b", True),
        ([1], [2], True),
        (None, None, True),
    ],
)
def test_same_shape(before: Any, after: Any, same: bool) -> None:
    assert same_shape(before, after) is same
