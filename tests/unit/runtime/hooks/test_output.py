"""The result protocol, row by row."""

from __future__ import annotations

import json
from typing import Any

import pytest

from checkrein.facts.claude_hooks import HOOK_EVENTS, OUTPUT_FIELDS
from checkrein.runtime.hooks.output import Raw, answer


def said(event: str, document: Any, exit_code: int = 0, stderr: str = "", **options: Any) -> Any:
    text = document if isinstance(document, str) else json.dumps(document)
    return answer(event, Raw(stdout=text, exit_code=exit_code, stderr=stderr), "cmd", **options)


def specific(event: str, **fields: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, **fields}}


@pytest.mark.parametrize("code", [0, 1, 2, 127])
def test_json_decides_on_every_exit_status(code: int) -> None:
    document = specific("PreToolUse", permissionDecision="deny", permissionDecisionReason="r")
    found = said("PreToolUse", document, code)
    assert (found.verdict, found.reason, found.by_status) == ("deny", "r", False)


def test_exit_two_can_not_be_undone_by_json() -> None:
    document = specific("PreToolUse", permissionDecision="allow", permissionDecisionReason="fine")
    found = said("PreToolUse", document, 2, "no")
    assert (found.verdict, found.reason, found.by_status) == ("deny", "[cmd]: no", True)
    assert found.specific.permission_decision is None


def test_exit_two_keeps_what_else_the_json_says() -> None:
    found = said("UserPromptSubmit", {"systemMessage": "m", "decision": "block", "reason": "j"}, 2, "no")
    assert (found.blocked, found.reason, found.system_message) == (True, "j", "m")


@pytest.mark.parametrize("text", ["{broken", '{"decision": 3}', "", "plain"])
def test_exit_two_blocks_whatever_stdout_holds(text: str) -> None:
    assert said("PreToolUse", text, 2, "no").verdict == "deny"


def test_exit_two_without_words() -> None:
    assert said("Stop", "", 2).reason == "[cmd]: No stderr output"


@pytest.mark.parametrize("event", sorted(HOOK_EVENTS))
def test_exit_two_on_each_event(event: str) -> None:
    found = said(event, "", 2, "no")
    if event == "PreToolUse":
        assert found.verdict == "deny"
    elif HOOK_EVENTS[event].blocks or event in ("PostToolUse", "PostToolUseFailure"):
        assert found.blocked
    else:
        assert not found.blocked
        assert found.verdict is None
        assert found.error == "no"


def test_any_failure_blocks_a_worktree() -> None:
    assert said("WorktreeCreate", "", 1, "no").blocked
    assert not said("PreCompact", "", 1, "no").blocked


@pytest.mark.parametrize("code", [1, 3, 126, 127, 137])
def test_other_failures_are_errors_only(code: int) -> None:
    found = said("PreToolUse", "text", code, "first\nsecond")
    assert (found.verdict, found.outcome, found.error) == (None, "error", "first")


@pytest.mark.parametrize("event", sorted(HOOK_EVENTS))
def test_plain_text_is_context_for_three_events(event: str) -> None:
    context = said(event, " text \n").context
    assert context == (
        "text" if event in ("SessionStart", "UserPromptSubmit", "UserPromptExpansion") else None
    )


def test_broken_json_is_text() -> None:
    assert said("UserPromptSubmit", "{not json").context == "{not json"
    assert said("PreToolUse", "{not json").error is None


@pytest.mark.parametrize(
    "document",
    [
        {"continue": "no"},
        {"decision": "deny"},
        {"hookSpecificOutput": []},
        specific("PreToolUse", permissionDecision="maybe"),
        specific("PreToolUse", updatedInput="x"),
        specific("Stop", additionalContext="x"),
        {"systemMessage": 3},
    ],
)
def test_another_form_is_an_error(document: Any) -> None:
    found = said("PreToolUse", document)
    assert (found.verdict, found.outcome) == (None, "error")
    assert "documented form" in found.error


def test_fields_of_other_events_are_ignored() -> None:
    document = specific("Stop", permissionDecision="nonsense", updatedInput=3)
    assert said("Stop", document).error is None


def test_null_fields_count_as_absent() -> None:
    document = {"reason": None, "continue": None, **specific("PreToolUse", permissionDecision=None)}
    found = said("PreToolUse", document)
    assert (found.verdict, found.ends_turn, found.error) == (None, False, None)


@pytest.mark.parametrize(("legacy", "decision"), [("approve", "allow"), ("block", "deny")])
def test_older_decisions(legacy: str, decision: str) -> None:
    found = said("PreToolUse", {"decision": legacy, "reason": "r"})
    assert (found.verdict, found.reason, found.blocked) == (decision, "r", False)


def test_continue_false() -> None:
    found = said("Stop", {"continue": False, "stopReason": "enough"})
    assert (found.ends_turn, found.stop_reason) == (True, "enough")
    assert not said("TaskCreated", {"continue": False}).ends_turn


@pytest.mark.parametrize("event", sorted(set(HOOK_EVENTS) - set(OUTPUT_FIELDS)))
def test_events_without_output(event: str) -> None:
    assert said(event, specific(event, additionalContext="x")).context is None


def test_deep_json_is_refused_not_followed() -> None:
    deep = '{"hookSpecificOutput": {"updatedInput": ' + '{"a":' * 200 + "1" + "}" * 200 + "}}"
    assert "nested" in said("PreToolUse", deep).error
    bomb = '{"a":' * 100_000
    assert said("PreToolUse", bomb).verdict is None
    assert said("PreToolUse", "[" * 100_000).verdict is None


@pytest.mark.parametrize(
    "raw",
    [
        Raw(failure="no answer within 1 s", timed_out=True),
        Raw(failure="it could not be started", exit_code=127),
        Raw(exit_code=1, stderr="crash"),
        Raw(stdout="{garbage"),
        Raw(stdout='{"decision": 1}'),
        Raw(stdout="text", json_only=True, exit_code=None),
    ],
)
def test_a_fail_closed_hook_refuses_when_it_fails(raw: Raw) -> None:
    open_, closed = answer("PreToolUse", raw, "cmd"), answer("PreToolUse", raw, "cmd", fail_closed=True)
    assert open_.verdict is None
    assert closed.verdict == "deny"
    assert closed.reason.startswith("[cmd]: ")
    assert answer("Stop", raw, "cmd", fail_closed=True).blocked
    permission = answer("PermissionRequest", raw, "cmd", fail_closed=True).specific.decision
    assert permission is not None
    assert permission.behavior == "deny"
    assert not answer("SessionStart", raw, "cmd", fail_closed=True).blocked


def test_fail_closed_leaves_success_alone() -> None:
    assert answer("PreToolUse", Raw(stdout="fine"), "cmd", fail_closed=True).verdict is None
    assert answer("PreToolUse", Raw(), "cmd", fail_closed=True).verdict is None
    assert answer("PreToolUse", Raw(cancelled=True, failure="x"), "cmd", fail_closed=True).verdict is None


def test_a_callback_that_is_late_blocks_calls_and_prompts() -> None:
    late = Raw(failure="no answer", timed_out=True, callback=True)
    assert answer("PreToolUse", late, "callback").verdict == "deny"
    assert answer("UserPromptSubmit", late, "callback").blocked
    assert answer("UserPromptExpansion", late, "callback").blocked
    assert not answer("Stop", late, "callback").blocked


def test_an_untrusted_hook_makes_a_call_a_question() -> None:
    raw = Raw(failure="not trusted", untrusted=True, exit_code=None)
    assert answer("PreToolUse", raw, "cmd").verdict == "ask"
    assert answer("PostToolUse", raw, "cmd").verdict is None
