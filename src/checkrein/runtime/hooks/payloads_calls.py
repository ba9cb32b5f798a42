"""The standard input of hooks on tool calls, tasks, teammates and elicitations."""

from __future__ import annotations

from typing import Any, Literal

from checkrein.runtime.hooks.payloads import Common, Payload, make

Input = dict[str, Any]


def pre_tool_use(common: Common, tool_name: str, tool_input: Input, tool_use_id: str) -> Payload:
    return make("PreToolUse", common, tool_name=tool_name, tool_input=tool_input, tool_use_id=tool_use_id)


def permission_request(
    common: Common,
    tool_name: str,
    tool_input: Input,
    permission_suggestions: list[dict[str, Any]] | None = None,
) -> Payload:
    """The product leaves out tool_use_id here."""
    return make(
        "PermissionRequest",
        common,
        tool_name=tool_name,
        tool_input=tool_input,
        permission_suggestions=permission_suggestions,
    )


def permission_denied(
    common: Common, tool_name: str, tool_input: Input, tool_use_id: str, reason: str
) -> Payload:
    return make(
        "PermissionDenied",
        common,
        tool_name=tool_name,
        tool_input=tool_input,
        tool_use_id=tool_use_id,
        reason=reason,
    )


def post_tool_use(
    common: Common,
    tool_name: str,
    tool_input: Input,
    tool_use_id: str,
    tool_response: Any,
    duration_ms: int | None = None,
) -> Payload:
    """`tool_response` is the tool's structured output."""
    return make(
        "PostToolUse",
        common,
        tool_name=tool_name,
        tool_input=tool_input,
        tool_response=tool_response,
        tool_use_id=tool_use_id,
        duration_ms=duration_ms,
    )


def post_tool_use_failure(
    common: Common,
    tool_name: str,
    tool_input: Input,
    tool_use_id: str,
    error: str,
    *,
    is_interrupt: bool = False,
    duration_ms: int | None = None,
) -> Payload:
    return make(
        "PostToolUseFailure",
        common,
        tool_name=tool_name,
        tool_input=tool_input,
        tool_use_id=tool_use_id,
        error=error,
        is_interrupt=is_interrupt,
        duration_ms=duration_ms,
    )


def batch_call(tool_name: str, tool_input: Input, tool_use_id: str, tool_response: str) -> Payload:
    """One call of a batch; `tool_response` is the text that the model sees."""
    return {
        "tool_name": tool_name,
        "tool_input": tool_input,
        "tool_use_id": tool_use_id,
        "tool_response": tool_response,
    }


def post_tool_batch(common: Common, tool_calls: list[Payload]) -> Payload:
    return make("PostToolBatch", common, tool_calls=tool_calls)


def task_created(
    common: Common,
    task_id: str,
    task_subject: str,
    *,
    task_description: str | None = None,
    teammate_name: str | None = None,
    team_name: str | None = None,
) -> Payload:
    return _task("TaskCreated", common, task_id, task_subject, task_description, teammate_name, team_name)


def task_completed(
    common: Common,
    task_id: str,
    task_subject: str,
    *,
    task_description: str | None = None,
    teammate_name: str | None = None,
    team_name: str | None = None,
) -> Payload:
    return _task("TaskCompleted", common, task_id, task_subject, task_description, teammate_name, team_name)


def _task(
    event: str,
    common: Common,
    task_id: str,
    subject: str,
    description: str | None,
    teammate: str | None,
    team: str | None,
) -> Payload:
    return make(
        event,
        common,
        task_id=task_id,
        task_subject=subject,
        task_description=description,
        teammate_name=teammate,
        team_name=team,
    )


def teammate_idle(common: Common, teammate_name: str, team_name: str) -> Payload:
    return make("TeammateIdle", common, teammate_name=teammate_name, team_name=team_name)


def elicitation(
    common: Common,
    mcp_server_name: str,
    message: str,
    *,
    mode: str | None = None,
    url: str | None = None,
    elicitation_id: str | None = None,
    requested_schema: dict[str, Any] | None = None,
) -> Payload:
    return make(
        "Elicitation",
        common,
        mcp_server_name=mcp_server_name,
        message=message,
        mode=mode,
        url=url,
        elicitation_id=elicitation_id,
        requested_schema=requested_schema,
    )


def elicitation_result(
    common: Common,
    mcp_server_name: str,
    action: Literal["accept", "decline", "cancel"],
    *,
    content: dict[str, Any] | None = None,
    mode: str | None = None,
    elicitation_id: str | None = None,
) -> Payload:
    return make(
        "ElicitationResult",
        common,
        mcp_server_name=mcp_server_name,
        action=action,
        content=content,
        mode=mode,
        elicitation_id=elicitation_id,
    )
