"""Every error kind of the protocol: its class, the client's action, and a hint.

An error's own hint and `retryable` win over the table; the table fills in the rest.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from checkrein.base.errors import ErrorClass

Action = Literal["retry", "escalate", "terminate", "configure"]


class Kind(Struct, frozen=True):
    """`action`: send the same call again later, ask a user, give up, or change the setup first."""

    error_class: ErrorClass
    action: Action
    hint: str


_HELP = "`checkrein machine VERB --help --output-format json` lists the arguments."

PARSE: tuple[str, ...] = (
    "usage",
    "unknown_subcommand",
    "unknown_option",
    "missing_argument",
    "missing_flag_value",
    "invalid_flag_value",
    "unexpected_extra_args",
    "argument_not_utf8",
    "schema_version_unknown",
)
"""Kinds for a wrong command line. Schema 1.0 calls all of them `parse`."""

KINDS: dict[str, Kind] = {
    **{kind: Kind("usage", "terminate", _HELP) for kind in PARSE},
    "prompt_empty": Kind("usage", "terminate", "Give a prompt with at least one word."),
    "payload_invalid": Kind(
        "usage", "terminate", "`checkrein machine show-tool NAME` prints the input schema."
    ),
    "stdin_closed": Kind("usage", "terminate", "Give the text as an argument, or pipe it in."),
    "input_too_large": Kind(
        "usage", "terminate", "Put the text into a file and name the file in the prompt."
    ),
    "invalid_session_id": Kind("usage", "terminate", "Use 1 to 128 of A-Z a-z 0-9 . _ -, no leading dot."),
    "schema_invalid": Kind("usage", "terminate", "Give a JSON Schema whose type is object."),
    "needs_session": Kind("usage", "terminate", "Run it in a session: `turn-loop --resume ID '/NAME'`."),
    "provider_unknown": Kind("usage", "configure", "Write --model PROVIDER:NAME."),
    "project_not_found": Kind("not_found", "terminate", "Name a directory that exists with --project."),
    "command_not_found": Kind("not_found", "terminate", "`checkrein machine commands` lists the commands."),
    "skill_not_found": Kind("not_found", "terminate", "`checkrein machine commands` lists the commands."),
    "tool_not_found": Kind("not_found", "terminate", "`checkrein machine tools` lists the tools."),
    "session_not_found": Kind(
        "not_found", "terminate", "`checkrein machine list-sessions` lists the sessions."
    ),
    "config_invalid": Kind("config", "configure", "`checkrein config` shows the values and their files."),
    "directory_invalid": Kind("filesystem", "configure", "Name a directory with --directory."),
    "filesystem": Kind("filesystem", "configure", "Check the path, its owner and its permissions."),
    "session_load_failed": Kind(
        "session", "escalate", "Look at the file; start a new session in the meantime."
    ),
    "session_write_failed": Kind("session", "configure", "Check free space and permissions, or --directory."),
    "session_delete_failed": Kind("session", "configure", "Check the permissions of the directory."),
    "session_entry_too_large": Kind("session", "terminate", "Send less text in one call."),
    "session_exists": Kind("session", "terminate", "Continue it with --resume ID, or choose another id."),
    "session_linked": Kind("session", "escalate", "Replace the link with the file it points to."),
    "session_ambiguous": Kind("session", "terminate", "Run in the session's project."),
    "session_empty": Kind("session", "terminate", "Start a new session."),
    "concurrent_modification": Kind("session", "retry", "Wait until the other process ends, then try again."),
    "permission_denied": Kind("policy", "escalate", "Add an allow rule, or choose another call."),
    "prompt_refused": Kind("policy", "escalate", "Look at the hook or rule that refused it."),
    "skill_refused": Kind("policy", "escalate", "Allow the command in the settings."),
    "needs_subagents": Kind("policy", "terminate", "Run it in a session with subagents."),
    "untrusted_origin": Kind("policy", "escalate", "Look at the project, then run `checkrein trust`."),
    "policy_refused": Kind("policy", "escalate", "Ask the owner of the rule."),
    "sandbox_unavailable": Kind("policy", "configure", "`checkrein doctor` says how to get a sandbox."),
    "credentials_missing": Kind("auth", "configure", "Set the key of the model's provider, or --model."),
    "authentication_failed": Kind("auth", "configure", "Check the key of the model's provider."),
    "rate_limit": Kind("model", "retry", "Wait, then send the same call again."),
    "overloaded": Kind("model", "retry", "Wait, then send the same call again, or use another model."),
    "server_error": Kind("model", "retry", "Wait, then send the same call again, or use another model."),
    "dropped": Kind("model", "retry", "The connection broke; send the same call again."),
    "malformed_stream": Kind(
        "model", "retry", "The endpoint sent a broken answer; send the same call again."
    ),
    "reply_too_large": Kind("model", "terminate", "The answer has no end; ask for less."),
    "idle_timeout": Kind("model", "retry", "The endpoint was silent for too long; send the same call again."),
    "transport": Kind("model", "retry", "Check the network and the endpoint's address, then try again."),
    "tls_failed": Kind("model", "configure", "Check the endpoint's certificate and the clock."),
    "billing_error": Kind("model", "escalate", "Check the payment and the credit at the provider."),
    "invalid_request": Kind("model", "terminate", "The endpoint refuses this request; change it."),
    "prompt_too_long": Kind("model", "terminate", "Send less text, or start a new session."),
    "window_exceeded": Kind("model", "terminate", "Send less text, or start a new session."),
    "model_not_found": Kind("model", "configure", "Check the name after --model."),
    "model_missing": Kind("model", "configure", "Name a model with --model PROVIDER:NAME."),
    "model_failed": Kind("model", "escalate", "Look at the message; use another model in the meantime."),
    "script": Kind("model", "terminate", "The script has no reply for this request; look at the script."),
    "replay_drift": Kind("model", "terminate", "The request differs from the recorded one; record it again."),
    "structured_output_failed": Kind("model", "retry", "Try again, or ask for a simpler schema."),
    "tool_failed": Kind("runtime", "terminate", "The tool's own message says why."),
    "not_implemented": Kind(
        "runtime", "terminate", "Use another verb; `checkrein machine manifest` lists them."
    ),
    "runtime": Kind("runtime", "escalate", "Look at the message and at the session."),
    "interrupted": Kind("runtime", "retry", "Send the same call again when you want it."),
    "terminated": Kind("runtime", "retry", "Send the same call again when you want it."),
    "internal": Kind("runtime", "escalate", "This is a bug in Checkrein: please report it."),
    "timeout": Kind("timeout", "retry", "Give it more time with --timeout-seconds."),
}

MODEL: tuple[str, ...] = tuple(kind for kind, row in KINDS.items() if row.error_class in ("model", "auth"))
"""Kinds of a verb that uses a model."""

COMMON: tuple[str, ...] = (*PARSE, "interrupted", "terminated", "internal", "config_invalid")
"""Kinds that any verb may return; a verb's declaration lists the others."""

_BY_CLASS: dict[str, Action] = {
    "usage": "terminate",
    "not_found": "terminate",
    "config": "configure",
    "filesystem": "configure",
    "policy": "escalate",
    "auth": "configure",
    "timeout": "retry",
}


def action_of(kind: str, error_class: str, retryable: bool) -> Action:
    known = KINDS.get(kind)
    if known is not None:
        return known.action
    return "retry" if retryable else _BY_CLASS.get(error_class, "escalate")
