"""What one handler did, and what it means for its event.

The result protocol: a JSON object on standard output decides, with any exit status. Exit 2 blocks every event
that can be blocked, and nothing in the JSON undoes that. Any other failure is an error that the session
survives, unless the hook has `failClosed`.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from checkrein.facts.claude_hooks import (
    ANY_FAILURE_BLOCKS,
    CALLBACK_TIMEOUT_BLOCKS,
    CONTINUE_IGNORED,
    FEEDBACK_EVENTS,
    HOOK_EVENTS,
    OUTPUT_FIELDS,
    TEXT_IS_CONTEXT,
)

Verdict = Literal["allow", "ask", "defer", "deny"]
Outcome = Literal["success", "error", "cancelled"]
_MAX_DEPTH = 64


class Raw(Struct, frozen=True, kw_only=True):
    """What a handler returned. `failure` says why it has no result: not started, no answer, too late."""

    stdout: str = ""
    stderr: str = ""
    exit_code: int | None = 0
    failure: str | None = None
    timed_out: bool = False
    cancelled: bool = False
    untrusted: bool = False
    json_only: bool = False
    """Any answer that is neither empty nor JSON is an error (http)."""
    callback: bool = False


class Permission(Struct, frozen=True, rename="camel"):
    """The answer of a PermissionRequest hook."""

    behavior: Literal["allow", "deny"]
    updated_input: dict[str, Any] | None = None
    updated_permissions: list[dict[str, Any]] = []
    message: str = ""
    interrupt: bool = False


class Specific(Struct, frozen=True, rename="camel"):
    """`hookSpecificOutput`, the fields of all events together."""

    permission_decision: Verdict | None = None
    permission_decision_reason: str | None = None
    updated_input: dict[str, Any] | None = None
    additional_context: str | None = None
    decision: Permission | None = None
    retry: bool | None = None
    updated_tool_output: Any = UNSET
    updated_mcp_tool_output: Any = msgspec.field(default=UNSET, name="updatedMCPToolOutput")
    classifier_context: str | None = None
    initial_user_message: str | None = None
    session_title: str | None = None
    watch_paths: list[str] | None = None
    reload_skills: bool | None = None
    suppress_original_prompt: bool | None = None
    display_content: str | None = None
    worktree_path: str | None = None
    action: Literal["accept", "decline", "cancel"] | None = None
    content: dict[str, Any] | None = None


class _Document(Struct, frozen=True, rename="camel"):
    continue_: bool | None = msgspec.field(default=None, name="continue")
    stop_reason: str | None = None
    suppress_output: bool | None = None
    system_message: str | None = None
    terminal_sequence: str | None = None
    decision: Literal["approve", "block"] | None = None
    reason: str | None = None
    hook_specific_output: dict[str, Any] | None = None
    run_async: bool | None = msgspec.field(default=None, name="async")


class Answer(Struct, frozen=True, kw_only=True):
    """The meaning of one handler's result.

    `verdict` is for PreToolUse, `blocked` for every other event. `by_status` marks a reason that came
    from an exit status or a failure instead of the JSON. `ends_turn` is `continue: false`.
    """

    outcome: Outcome = "success"
    verdict: Verdict | None = None
    blocked: bool = False
    reason: str = ""
    by_status: bool = False
    ends_turn: bool = False
    stop_reason: str | None = None
    system_message: str | None = None
    context: str | None = None
    specific: Specific = Specific()
    error: str | None = None
    text: str = ""


def without_approval(answer: Answer) -> Answer:
    """The same answer, which approves nothing."""
    permission = answer.specific.decision
    if permission is not None and permission.behavior == "allow":
        answer = replace(answer, specific=replace(answer.specific, decision=None))
    return replace(answer, verdict=None) if answer.verdict == "allow" else answer


def answer(event: str, raw: Raw, label: str, *, fail_closed: bool = False) -> Answer:
    """Read a handler's result. `label` names the handler in reasons: its command, its URL."""
    if raw.cancelled:
        return Answer(outcome="cancelled", error="cancelled")
    if raw.untrusted and event == "PreToolUse":
        return Answer(outcome="error", verdict="ask", reason=raw.failure or "", error=raw.failure)
    if raw.failure is not None:
        closed = fail_closed or (raw.timed_out and raw.callback and event in CALLBACK_TIMEOUT_BLOCKS)
        outcome: Outcome = "cancelled" if raw.timed_out else "error"
        return _failed(event, f"[{label}]: {raw.failure}", raw.failure, closed, outcome)
    document, text, problem = _read(event, raw.stdout)
    blocks = raw.exit_code == 2 or (event in ANY_FAILURE_BLOCKS and raw.exit_code not in (0, None))
    if blocks and _can_block(event):
        shown = raw.stderr.strip() or "No stderr output"
        return _blocked(event, document or _Document(), f"[{label}]: {shown}")
    if problem is not None:
        return _failed(event, f"[{label}]: {problem}", problem, fail_closed)
    if document is not None:
        return _decided(event, document)
    if raw.exit_code not in (0, None):
        first = next(
            (line for line in raw.stderr.splitlines() if line.strip()), f"exit status {raw.exit_code}"
        )
        return _failed(event, f"[{label}]: {first.strip()}", first.strip(), fail_closed)
    if raw.json_only and text.strip():
        return _failed(
            event,
            f"[{label}]: the answer is not a JSON object",
            "the answer is not a JSON object",
            fail_closed,
        )
    if fail_closed and text.lstrip().startswith("{"):
        return _failed(event, f"[{label}]: the answer is broken JSON", "the answer is broken JSON", True)
    return Answer(context=text.strip() if event in TEXT_IS_CONTEXT and text.strip() else None, text=text)


def _can_block(event: str) -> bool:
    return HOOK_EVENTS[event].blocks or event in FEEDBACK_EVENTS


def refuse(event: str, reason: str, **fields: Any) -> Answer:
    """The answer that blocks: a denial on PreToolUse and PermissionRequest, a block where there is one."""
    if event == "PreToolUse":
        return Answer(verdict="deny", reason=reason, **fields)
    if event == "PermissionRequest":
        denied = Permission(behavior="deny", message=reason)
        return Answer(specific=Specific(decision=denied), reason=reason, **fields)
    return Answer(blocked=_can_block(event), reason=reason, **fields)


def _failed(event: str, reason: str, error: str, closed: bool, outcome: Outcome = "error") -> Answer:
    if not closed:
        return Answer(outcome=outcome, error=error)
    return refuse(event, reason, outcome=outcome, error=error, by_status=True)


def _read(event: str, stdout: str) -> tuple[_Document | None, str, str | None]:
    """(document, text, problem): the JSON object, or the text, or why the object is not a hook answer."""
    if not stdout.lstrip().startswith("{"):
        return None, stdout, None
    try:
        value = msgspec.json.decode(stdout.strip())
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return None, stdout, None
    if _too_deep(value):
        return None, "", f"the answer is nested more than {_MAX_DEPTH} levels deep"
    try:
        document = msgspec.convert(value, _Document)
        _specific(event, document)
    except msgspec.ValidationError as error:
        return None, "", f"the answer does not have the documented form: {error}"
    return document, "", None


def _specific(event: str, document: _Document) -> Specific:
    given = document.hook_specific_output or {}
    name = given.get("hookEventName", event)
    if name != event:
        raise msgspec.ValidationError(f"hookEventName is {name!r}, expected {event!r}")
    honoured = {key: given[key] for key in OUTPUT_FIELDS.get(event, ()) if given.get(key) is not None}
    return msgspec.convert(honoured, Specific)


def _decided(event: str, document: _Document) -> Answer:
    if document.run_async:
        return Answer()
    specific = _specific(event, document)
    verdict: Verdict | None = None
    reason = document.reason or ""
    if event == "PreToolUse":
        legacy: dict[str | None, Verdict] = {"approve": "allow", "block": "deny"}
        verdict = specific.permission_decision or legacy.get(document.decision)
        reason = specific.permission_decision_reason or reason
    return Answer(
        verdict=verdict,
        blocked=event != "PreToolUse" and document.decision == "block" and _can_block(event),
        reason=reason,
        ends_turn=document.continue_ is False and event not in CONTINUE_IGNORED,
        stop_reason=document.stop_reason,
        system_message=document.system_message or None,
        context=specific.additional_context or None,
        specific=specific,
    )


def _blocked(event: str, document: _Document, shown: str) -> Answer:
    """Exit 2: the JSON may give a reason and messages, but no approval."""
    said = _decided(event, document)
    refuses = said.blocked or said.verdict == "deny"
    reason = said.reason if refuses and said.reason else shown
    return msgspec.structs.replace(
        said,
        outcome="error",
        verdict="deny" if event == "PreToolUse" else None,
        blocked=event != "PreToolUse",
        reason=reason,
        by_status=reason is shown,
        specific=msgspec.structs.replace(said.specific, permission_decision=None, decision=None),
    )


def _too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(_MAX_DEPTH):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return False
    return True


def updated_output(specific: Specific) -> Any | UnsetType:
    """The rewritten output of a tool. The older field for MCP tools counts when the newer one is missing."""
    return (
        specific.updated_mcp_tool_output
        if specific.updated_tool_output is UNSET
        else specific.updated_tool_output
    )
