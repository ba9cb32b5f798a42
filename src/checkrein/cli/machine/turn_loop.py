"""`checkrein machine turn-loop`."""

from __future__ import annotations

from typing import Any

from checkrein.base.errors import UsageError
from checkrein.cli.machine import args
from checkrein.cli.registry import Arg, Outcome
from checkrein.protocol.machine.kinds import MODEL
from checkrein.protocol.machine.payloads import Looped

COMMAND = args.verb(
    "turn-loop",
    "Run prompts in one session, one after the other, within limits.",
    details="Exit 2 means that a time limit passed; `final_cancel_observed` then says whether the session "
    "can be used again.",
    args=(
        args.PROMPT,
        args.LIMIT,
        Arg(
            name="max_turns",
            flags=("--max-turns",),
            type="int",
            default=3,
            help="The number of prompts to send.",
        ),
        Arg(
            name="structured_output",
            flags=("--structured-output",),
            type="bool",
            help="Ask for the answer as JSON: an object with the list `summary`.",
        ),
        Arg(
            name="json_schema",
            flags=("--json-schema",),
            metavar="JSON",
            help="Ask for an answer that matches this JSON Schema.",
        ),
        args.TIMEOUT,
        Arg(
            name="turn_timeout_seconds",
            flags=("--turn-timeout-seconds",),
            type="float",
            metavar="SECONDS",
            help="Stop when one turn takes longer.",
        ),
        args.GRACE,
        Arg(
            name="continuation_prompt",
            flags=("--continuation-prompt",),
            metavar="TEXT",
            help="The prompt of later turns; without it there is one turn.",
        ),
        Arg(
            name="max_budget_tokens",
            flags=("--max-budget-tokens",),
            type="int",
            help="Stop when the session has used this many tokens.",
        ),
        Arg(
            name="max_tool_rounds",
            flags=("--max-tool-rounds",),
            type="int",
            help="Stop a turn after this many rounds of tool calls.",
        ),
        args.PROJECT,
        *args.MODEL_ARGS,
        args.DIRECTORY,
        Arg(name="session_id", flags=("--session-id",), metavar="ID", help="The id of the new session."),
        Arg(
            name="resume",
            flags=("--resume",),
            complete="sessions",
            metavar="ID",
            help="Continue this session.",
        ),
        *args.PERMISSIONS,
    ),
    payload=Looped,
    errors=(
        "prompt_empty",
        "prompt_refused",
        "project_not_found",
        "tool_not_found",
        "stdin_closed",
        "input_too_large",
        "schema_invalid",
        "directory_invalid",
        "invalid_session_id",
        "session_not_found",
        "session_load_failed",
        "session_write_failed",
        "session_exists",
        "session_linked",
        "session_ambiguous",
        "session_entry_too_large",
        "concurrent_modification",
        "provider_unknown",
        "runtime",
        *MODEL,
    ),
)


def run(
    prompt: str,
    limit: int,
    structured_output: bool,
    json_schema: str | None,
    continuation_prompt: str | None,
    **values: Any,
) -> Outcome:
    from checkrein.protocol.machine.payloads import Limits
    from checkrein.protocol.machine.turn_loop import SUMMARY_SCHEMA, turn_loop

    schema = SUMMARY_SCHEMA if structured_output else None
    if values["session_id"] is not None and values["resume"] is not None:
        raise UsageError("--session-id and --resume can't go together.", kind="invalid_flag_value")
    setup = args.setup_of({**values, "schema": _schema(json_schema) if json_schema is not None else schema})
    limits = Limits(**{name: values[name] for name in Limits.__struct_fields__})
    done, warnings = turn_loop(args.text_of(prompt, "prompt"), continuation_prompt, setup, limits, limit)

    def text() -> str:
        lines: list[str] = []
        for number, turn in enumerate(done.turns, 1):
            lines += [f"## Turn {number}", turn.output, f"stop_reason={turn.stop_reason}"]
        return "\n".join(lines)

    status = 2 if done.final_stop_reason == "timeout" else 0
    return Outcome(data=done, text=text, status=status, warnings=warnings)


def _schema(text: str) -> dict[str, Any]:
    import json

    try:
        schema = json.loads(text)
    except json.JSONDecodeError as error:
        raise UsageError(f"--json-schema is not JSON: {error}.", kind="schema_invalid") from error
    if not isinstance(schema, dict):
        raise UsageError("--json-schema is not a JSON object.", kind="schema_invalid")
    return schema
