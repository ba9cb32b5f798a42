"""Hook events: what a matcher must match, which handlers may run, whether a handler can block."""

from __future__ import annotations

from msgspec import Struct

HANDLERS = ("command", "http", "mcp_tool", "prompt", "agent")
_NO_MODEL = ("command", "http", "mcp_tool")
_LOCAL = ("command", "mcp_tool")


class HookEvent(Struct, frozen=True):
    """`matcher` names the input field that a matcher must match; None: the event ignores matchers."""

    name: str
    matcher: str | None = None
    values: tuple[str, ...] = ()
    handlers: tuple[str, ...] = _NO_MODEL
    blocks: bool = False
    tool_event: bool = False


def _tool(name: str, *, blocks: bool = False) -> HookEvent:
    return HookEvent(name, "tool_name", handlers=HANDLERS, blocks=blocks, tool_event=True)


_EVENTS = (
    HookEvent("SessionStart", "source", ("startup", "resume", "clear", "compact", "fork"), _LOCAL),
    HookEvent("Setup", "trigger", ("init", "maintenance"), _LOCAL),
    HookEvent(
        "InstructionsLoaded",
        "load_reason",
        ("session_start", "nested_traversal", "path_glob_match", "include", "compact"),
    ),
    HookEvent("UserPromptSubmit", handlers=HANDLERS, blocks=True),
    HookEvent("UserPromptExpansion", "command_name", handlers=HANDLERS, blocks=True),
    HookEvent("MessageDisplay"),
    _tool("PreToolUse", blocks=True),
    _tool("PermissionRequest"),
    _tool("PermissionDenied"),
    _tool("PostToolUse"),
    _tool("PostToolUseFailure"),
    HookEvent("PostToolBatch", handlers=HANDLERS, blocks=True),
    HookEvent(
        "Notification",
        "notification_type",
        (
            "permission_prompt",
            "idle_prompt",
            "auth_success",
            "elicitation_dialog",
            "elicitation_url_dialog",
            "elicitation_complete",
            "elicitation_response",
            "agent_needs_input",
            "agent_completed",
        ),
    ),
    HookEvent("SubagentStart", "agent_type"),
    HookEvent("SubagentStop", "agent_type", handlers=HANDLERS, blocks=True),
    HookEvent("TaskCreated", handlers=HANDLERS, blocks=True),
    HookEvent("TaskCompleted", handlers=HANDLERS, blocks=True),
    HookEvent("Stop", handlers=HANDLERS, blocks=True),
    HookEvent(
        "StopFailure",
        "error",
        (
            "rate_limit",
            "overloaded",
            "authentication_failed",
            "oauth_org_not_allowed",
            "billing_error",
            "invalid_request",
            "model_not_found",
            "server_error",
            "max_output_tokens",
            "unknown",
        ),
    ),
    HookEvent("TeammateIdle", handlers=HANDLERS, blocks=True),
    HookEvent(
        "ConfigChange",
        "source",
        ("user_settings", "project_settings", "local_settings", "policy_settings", "skills"),
        blocks=True,
    ),
    HookEvent("CwdChanged"),
    HookEvent("DirectoryAdded", "source", ("slash_command", "register_repo_root")),
    HookEvent("FileChanged", "basename"),
    HookEvent("WorktreeCreate", blocks=True),
    HookEvent("WorktreeRemove"),
    HookEvent("PreCompact", "trigger", ("manual", "auto"), blocks=True),
    HookEvent("PostCompact", "trigger", ("manual", "auto")),
    HookEvent("Elicitation", "mcp_server_name", blocks=True),
    HookEvent("ElicitationResult", "mcp_server_name", blocks=True),
    HookEvent("SessionEnd", "reason", ("clear", "resume", "logout", "prompt_input_exit", "other")),
)

HOOK_EVENTS: dict[str, HookEvent] = {event.name: event for event in _EVENTS}

# Failures of a model request that have another name in StopFailure.
STOP_FAILURES: dict[str, str] = {
    "dropped": "server_error",
    "malformed_stream": "server_error",
    "idle_timeout": "server_error",
    "transport": "server_error",
    "prompt_too_long": "invalid_request",
    "window_exceeded": "invalid_request",
}

# Events in the SDK's types that the documented table does not name.
NEWER_EVENTS = ("PreModelSwitch", "PostModelSwitch")

DEFAULT_TIMEOUTS: dict[str, float] = {"command": 600, "http": 600, "mcp_tool": 600, "prompt": 30, "agent": 60}
EVENT_TIMEOUTS: dict[str, float] = {"UserPromptSubmit": 30, "MessageDisplay": 10, "SessionEnd": 1.5}

# JSON key -> field of model.items.Hook, for every handler type.
HANDLER_KEYS: dict[str, str] = {
    "type": "type",
    "command": "command",
    "args": "args",
    "url": "url",
    "headers": "headers",
    "allowedEnvVars": "allowed_env",
    "prompt": "prompt",
    "model": "model",
    "server": "server",
    "tool": "tool",
    "input": "input",
    "if": "condition",
    "timeout": "timeout",
    "statusMessage": "status_message",
    "shell": "shell",
    "once": "once",
    "async": "run_async",
    "asyncRewake": "async_rewake",
    "continueOnBlock": "continue_on_block",
    "failClosed": "fail_closed",
}

# What each handler type needs.
REQUIRED_KEYS: dict[str, tuple[str, ...]] = {
    "command": ("command",),
    "http": ("url",),
    "mcp_tool": ("server", "tool"),
    "prompt": ("prompt",),
    "agent": ("prompt",),
}

# --- Running a hook: what goes in, what comes out, how long it may take ---

# Optional common input of each event, beside session_id, transcript_path, cwd, hook_event_name and the
# agent's id and type. An event that is not here gets only `prompt_id`.
_PROMPT = ("prompt_id", "permission_mode")
_CALL = ("prompt_id", "permission_mode", "effort")
COMMON_INPUT: dict[str, tuple[str, ...]] = {
    "SessionStart": (),
    "Setup": (),
    "InstructionsLoaded": (),
    "UserPromptSubmit": _PROMPT,
    "UserPromptExpansion": _PROMPT,
    "PreToolUse": _CALL,
    "PermissionRequest": _CALL,
    "PermissionDenied": _CALL,
    "PostToolUse": _CALL,
    "PostToolUseFailure": _CALL,
    "PostToolBatch": _CALL,
    "SubagentStop": _CALL,
    "Stop": _CALL,
    "TaskCreated": _PROMPT,
    "TaskCompleted": _PROMPT,
    "TeammateIdle": _PROMPT,
    "Elicitation": _PROMPT,
    "ElicitationResult": _PROMPT,
}

# Matchers of these events are exact only when they hold nothing but letters, digits, `_` and `|`.
NARROW_MATCHERS = frozenset({"FileChanged", "StopFailure"})
# Text that is not a JSON object becomes context for these events; other events drop it.
TEXT_IS_CONTEXT = frozenset({"SessionStart", "UserPromptSubmit", "UserPromptExpansion"})
# For these, exit 2 and `decision: block` only give the model a text; they undo nothing.
FEEDBACK_EVENTS = frozenset({"PostToolUse", "PostToolUseFailure"})
# Any exit status but 0 counts as exit 2.
ANY_FAILURE_BLOCKS = frozenset({"WorktreeCreate"})
# `continue: false` has no effect.
CONTINUE_IGNORED = frozenset({"TaskCreated"})
# A program's callback that does not answer in time blocks these; for other events the session continues.
CALLBACK_TIMEOUT_BLOCKS = frozenset({"PreToolUse", "UserPromptSubmit", "UserPromptExpansion"})
# `ok: false` of a prompt or agent hook ends the turn; with `continueOnBlock` the second set continues.
REFUSAL_ENDS_TURN = frozenset({"PostToolBatch", "UserPromptSubmit", "UserPromptExpansion"})
REFUSAL_MAY_END_TURN = frozenset({"PreToolUse", "PostToolUse"})
REFUSAL_IGNORED = frozenset({"PermissionRequest", "PermissionDenied"})

CALLBACK_TIMEOUT = 60.0
SESSION_END_LONGEST = 60.0
SESSION_END_TIMEOUT_ENV = "CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS"
STOP_BLOCK_CAP = 8
STOP_BLOCK_CAP_ENV = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"
OUTPUT_CHARS = 10_000
CLASSIFIER_CHARS = 2_000

ENV_FILE_EVENTS = frozenset({"SessionStart", "Setup", "CwdChanged", "FileChanged"})
REMOVED_ENV_PREFIXES = ("OTEL_",)

# Fields of `hookSpecificOutput` that count, by event; others have no effect. The universal fields
# (continue, stopReason, systemMessage, suppressOutput) and decision + reason are beside it.
OUTPUT_FIELDS: dict[str, tuple[str, ...]] = {
    "SessionStart": ("additionalContext", "initialUserMessage", "sessionTitle", "watchPaths", "reloadSkills"),
    "Setup": ("additionalContext",),
    "UserPromptSubmit": ("additionalContext", "sessionTitle", "suppressOriginalPrompt"),
    "UserPromptExpansion": ("additionalContext",),
    "MessageDisplay": ("displayContent",),
    "PreToolUse": ("permissionDecision", "permissionDecisionReason", "updatedInput", "additionalContext"),
    "PermissionRequest": ("decision",),
    "PermissionDenied": ("retry",),
    "PostToolUse": ("additionalContext", "updatedToolOutput", "updatedMCPToolOutput", "classifierContext"),
    "PostToolUseFailure": ("additionalContext",),
    "PostToolBatch": ("additionalContext",),
    "SubagentStart": ("additionalContext",),
    "SubagentStop": ("additionalContext",),
    "Stop": ("additionalContext",),
    "CwdChanged": ("watchPaths",),
    "FileChanged": ("watchPaths",),
    "WorktreeCreate": ("worktreePath",),
    "Elicitation": ("action", "content"),
    "ElicitationResult": ("action", "content"),
}
