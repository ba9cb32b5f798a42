"""`checkrein machine bootstrap`."""

from __future__ import annotations

from typing import Any

from checkrein.cli.machine import args
from checkrein.cli.registry import Outcome
from checkrein.protocol.machine.kinds import MODEL
from checkrein.protocol.machine.payloads import Bootstrapped

COMMAND = args.verb(
    "bootstrap",
    "Go through every stage of a start, then run one prompt in a new session.",
    args=(
        args.PROMPT,
        args.LIMIT,
        args.PROJECT,
        *args.MODEL_ARGS,
        args.DIRECTORY,
        *args.PERMISSIONS,
        args.TIMEOUT,
        args.GRACE,
    ),
    payload=Bootstrapped,
    errors=(
        "prompt_empty",
        "prompt_refused",
        "project_not_found",
        "tool_not_found",
        "stdin_closed",
        "input_too_large",
        "directory_invalid",
        "session_write_failed",
        "provider_unknown",
        *MODEL,
    ),
)


def run(
    prompt: str, limit: int, timeout_seconds: float | None, grace_seconds: float, **values: Any
) -> Outcome:
    from checkrein.protocol.machine.exec_session import bootstrap

    said = args.text_of(prompt, "prompt")
    done, warnings = bootstrap(said, args.setup_of(values), limit, timeout_seconds, grace_seconds)
    status = 2 if done.final_stop_reason == "timeout" else 0

    def text() -> str:
        from checkrein.cli.machine.reports_text import bootstrapped

        return bootstrapped(done)

    return Outcome(data=done, text=text, status=status, warnings=warnings)
