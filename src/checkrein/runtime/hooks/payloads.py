"""What a hook reads on its standard input: one function for each event, the common fields in one place.

Keys have the product's order; a field with the value None is left out.
"""

from __future__ import annotations

import os
from typing import Any, Literal

from msgspec import Struct

from checkrein.facts.claude_hooks import COMMON_INPUT, HOOK_EVENTS

Payload = dict[str, Any]


class Common(Struct, frozen=True, kw_only=True):
    """The fields of every event. `agent_id` is set only in a subagent; `prompt_id` after the first prompt."""

    session_id: str
    transcript_path: str
    cwd: str
    prompt_id: str | None = None
    permission_mode: str | None = None
    agent_id: str | None = None
    agent_type: str | None = None
    effort: str | None = None


def matcher_value(event: str, payload: Payload) -> str | None:
    """The text that a matcher of this event must match; None when the event ignores matchers."""
    field = HOOK_EVENTS[event].matcher
    if field is None:
        return None
    if field == "basename":
        return os.path.basename(str(payload.get("file_path", "")))
    return str(payload.get(field, ""))


def make(event: str, common: Common, **extra: Any) -> Payload:
    told = COMMON_INPUT.get(event, ("prompt_id",))
    fields: Payload = {
        "session_id": common.session_id,
        "transcript_path": common.transcript_path,
        "cwd": common.cwd,
        "prompt_id": common.prompt_id if "prompt_id" in told else None,
        "permission_mode": common.permission_mode if "permission_mode" in told else None,
        "agent_id": common.agent_id,
        "agent_type": common.agent_type,
        "effort": {"level": common.effort} if common.effort and "effort" in told else None,
        "hook_event_name": event,
    }
    fields.update(extra)
    return {key: value for key, value in fields.items() if value is not None}


def session_start(
    common: Common,
    source: Literal["startup", "resume", "clear", "compact", "fork"],
    *,
    model: str | None = None,
    session_title: str | None = None,
) -> Payload:
    return make("SessionStart", common, source=source, model=model, session_title=session_title)


def setup(common: Common, trigger: Literal["init", "maintenance"]) -> Payload:
    return make("Setup", common, trigger=trigger)


def session_end(common: Common, reason: str) -> Payload:
    return make("SessionEnd", common, reason=reason)


def instructions_loaded(
    common: Common,
    file_path: str,
    memory_type: Literal["User", "Project", "Local", "Managed"],
    load_reason: str,
    *,
    globs: list[str] | None = None,
    trigger_file_path: str | None = None,
    parent_file_path: str | None = None,
) -> Payload:
    return make(
        "InstructionsLoaded",
        common,
        file_path=file_path,
        memory_type=memory_type,
        load_reason=load_reason,
        globs=globs,
        trigger_file_path=trigger_file_path,
        parent_file_path=parent_file_path,
    )


def user_prompt_submit(common: Common, prompt: str) -> Payload:
    return make("UserPromptSubmit", common, prompt=prompt)


def user_prompt_expansion(
    common: Common,
    expansion_type: Literal["slash_command", "mcp_prompt"],
    command_name: str,
    command_args: str,
    command_source: str,
    prompt: str,
) -> Payload:
    """`command_source` is the scope that the command, or the server of the prompt, comes from."""
    return make(
        "UserPromptExpansion",
        common,
        expansion_type=expansion_type,
        command_name=command_name,
        command_args=command_args,
        command_source=command_source,
        prompt=prompt,
    )


def message_display(
    common: Common, turn_id: str, message_id: str, delta: str, *, index: int = 0, final: bool = True
) -> Payload:
    return make(
        "MessageDisplay",
        common,
        turn_id=turn_id,
        message_id=message_id,
        index=index,
        final=final,
        delta=delta,
    )


def notification(
    common: Common, message: str, notification_type: str, *, title: str | None = None
) -> Payload:
    return make("Notification", common, message=message, title=title, notification_type=notification_type)


def subagent_start(common: Common) -> Payload:
    """`common` carries the subagent's id and type."""
    return make("SubagentStart", common)


def subagent_stop(
    common: Common,
    agent_transcript_path: str,
    last_assistant_message: str,
    *,
    stop_hook_active: bool = False,
    background_tasks: list[Any] | None = None,
    session_crons: list[Any] | None = None,
) -> Payload:
    return make(
        "SubagentStop",
        common,
        stop_hook_active=stop_hook_active,
        agent_transcript_path=agent_transcript_path,
        last_assistant_message=last_assistant_message,
        background_tasks=background_tasks or [],
        session_crons=session_crons or [],
    )


def stop(
    common: Common,
    last_assistant_message: str,
    *,
    stop_hook_active: bool = False,
    background_tasks: list[Any] | None = None,
    session_crons: list[Any] | None = None,
) -> Payload:
    return make(
        "Stop",
        common,
        stop_hook_active=stop_hook_active,
        last_assistant_message=last_assistant_message,
        background_tasks=background_tasks or [],
        session_crons=session_crons or [],
    )


def stop_failure(
    common: Common, error: str, last_assistant_message: str, *, error_details: str | None = None
) -> Payload:
    return make(
        "StopFailure",
        common,
        error=error,
        error_details=error_details,
        last_assistant_message=last_assistant_message,
    )


def pre_compact(common: Common, trigger: Literal["manual", "auto"], custom_instructions: str = "") -> Payload:
    return make("PreCompact", common, trigger=trigger, custom_instructions=custom_instructions)


def post_compact(common: Common, trigger: Literal["manual", "auto"], compact_summary: str) -> Payload:
    return make("PostCompact", common, trigger=trigger, compact_summary=compact_summary)


def config_change(common: Common, source: str, file_path: str | None = None) -> Payload:
    return make("ConfigChange", common, source=source, file_path=file_path)


def cwd_changed(common: Common, old_cwd: str, new_cwd: str) -> Payload:
    return make("CwdChanged", common, old_cwd=old_cwd, new_cwd=new_cwd)


def directory_added(
    common: Common, directory: str, source: Literal["slash_command", "register_repo_root"]
) -> Payload:
    return make("DirectoryAdded", common, directory=directory, source=source)


def file_changed(common: Common, file_path: str, event: Literal["change", "add", "unlink"]) -> Payload:
    return make("FileChanged", common, file_path=file_path) | {"event": event}


def worktree_create(common: Common, name: str) -> Payload:
    return make("WorktreeCreate", common, name=name)


def worktree_remove(common: Common, worktree_path: str) -> Payload:
    return make("WorktreeRemove", common, worktree_path=worktree_path)
