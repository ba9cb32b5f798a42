"""`exec-tool` and `exec-command`: run it through the gate; nobody can answer questions."""

from __future__ import annotations

import time
from typing import Any

import msgspec

from checkrein.base.clock import elapsed_ms
from checkrein.base.diagnostic import Diagnostic
from checkrein.base.errors import CheckreinError, PolicyError, TimeLimitError, UsageError
from checkrein.llm.port import Cancel, ToolUse
from checkrein.protocol.machine.inventory import Entry, find_command, find_tool
from checkrein.protocol.machine.payloads import CommandRun, ToolRun
from checkrein.protocol.machine.pool import silent_session
from checkrein.protocol.machine.setup import Setup, project_of
from checkrein.protocol.machine.worker import Ended, Worker
from checkrein.runtime.call.host import Done
from checkrein.runtime.tools.port import Aside
from checkrein.runtime.tools.validate import coerce

_CALL_ID = "call_1"
Warned = tuple[Diagnostic, ...]


def exec_tool(
    name: str, payload: str, setup: Setup, timeout: float | None, grace: float
) -> tuple[ToolRun, Warned]:
    known: dict[str, Any] = {"name": name, "payload": payload, "handled": False}
    try:
        return _exec_tool(name, payload, setup, timeout, grace)
    except CheckreinError as error:
        raise error.during("exec_tool", name, **known) from error


def _exec_tool(
    name: str, payload: str, setup: Setup, timeout: float | None, grace: float
) -> tuple[ToolRun, Warned]:
    entry = find_tool(name, setup.project)
    values = _object(payload)
    until = None if timeout is None else time.monotonic() + timeout
    cancel = Cancel()
    began = time.monotonic()

    def work() -> tuple[Done, Warned]:
        with silent_session(setup, persist=True) as session:
            tool = session.conversation.host.tools.get(entry.name)
            if tool is None:
                raise PolicyError(
                    f"This project does not offer {entry.name}: a rule removes it.",
                    kind="permission_denied",
                ).during("judge_call")
            problem = coerce(tool.declaration, values)[1]
            if problem is not None:
                raise UsageError(problem, kind="payload_invalid").during("check_payload")
            call = ToolUse(_CALL_ID, entry.name, values)
            done = session.call(call, cancel)
            return done, session.conversation.services.skipped

    ended: Ended[tuple[Done, Warned]] = Worker().do(work, until=until, grace=grace, interrupt=cancel.cancel)
    if ended.stop is not None:
        raise ended.stop
    if ended.late or ended.value is None:
        raise too_late(entry.name, timeout, ended.observed)
    done, skipped = ended.value
    finished = done.finished
    if done.denial is not None:
        denial = done.denial.denial
        raise PolicyError(str(finished.content), kind="permission_denied", origin=denial.origin).during(
            "judge_call", reason=denial.reason, rule=denial.rule, decided_by=done.denial.by
        )
    if finished.is_error:
        raise CheckreinError(str(finished.content), kind="tool_failed").during(
            "run_tool", structured=finished.structured
        )
    return (
        ToolRun(
            name=entry.name,
            payload=payload,
            source_hint=entry.source_hint,
            handled=True,
            message=one_line(_shown(finished.content)),
            output=msgspec.to_builtins(finished.content),
            structured=_repeatable(finished.structured),
            duration_ms=elapsed_ms(began),
            verdict=finished.verdict,
            reason=finished.reason,
            rule=finished.rule,
        ),
        skipped,
    )


def exec_command(
    name: str, prompt: str, setup: Setup, timeout: float | None, grace: float
) -> tuple[CommandRun, Warned]:
    """Without a model, expand the command; with one, a session works on it."""
    known: dict[str, Any] = {"name": name, "prompt": prompt, "handled": False}
    try:
        entry = find_command(name, project_of(setup))
        if entry.source == "builtin":
            raise UsageError(f"/{entry.name} needs a session.", kind="needs_session")
        if setup.model is None:
            return _expand(entry, prompt, setup, timeout, grace)
        from checkrein.protocol.machine.exec_session import run_in_session

        return run_in_session(entry, prompt, setup, timeout, grace)
    except CheckreinError as error:
        raise error.during("exec_command", name, **known) from error


def _expand(
    entry: Entry, prompt: str, setup: Setup, timeout: float | None, grace: float
) -> tuple[CommandRun, Warned]:
    until = None if timeout is None else time.monotonic() + timeout
    cancel = Cancel()
    began = time.monotonic()

    def work() -> tuple[str, Warned]:
        with silent_session(setup) as session:
            talk = session.conversation
            text = talk.skills.invoker.by_user(entry.name, prompt, Aside(cancel)).text
            return text, talk.services.skipped

    ended: Ended[tuple[str, Warned]] = Worker().do(work, until=until, grace=grace, interrupt=cancel.cancel)
    if ended.stop is not None:
        raise ended.stop
    if ended.late or ended.value is None:
        raise too_late(entry.name, timeout, ended.observed)
    text, skipped = ended.value
    run = CommandRun(
        name=entry.name,
        prompt=prompt,
        source_hint=entry.source_hint,
        handled=True,
        message=f"/{entry.name} expands to {len(text)} characters; use --model to run it.",
        expansion=text,
        executed=False,
        output=None,
        stop_reason=None,
        cancel_observed=False,
        session_id=None,
        persisted_session_path=None,
        usage=None,
        permission_denials=(),
        duration_ms=elapsed_ms(began),
    )
    return run, skipped


def one_line(text: str) -> str:
    """The first line that is not blank, and the number of further lines."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        return "(no output)"
    first = lines[0] if len(lines[0]) <= 200 else lines[0][:200] + "…"
    return first if len(lines) == 1 else f"{first} (+{len(lines) - 1} lines)"


def too_late(name: str, timeout: float | None, observed: bool) -> TimeLimitError:
    """Retryable when the work acknowledged its end; otherwise it may still be running."""
    error = TimeLimitError(f"{name} did not end within {timeout:g} s.", retryable=observed)
    return error.during("run", cancel_observed=observed)


def _object(payload: str) -> dict[str, Any]:
    try:
        values = msgspec.json.decode(payload)
    except msgspec.DecodeError as error:
        raise UsageError(f"The payload is not JSON: {error}.", kind="payload_invalid").during(
            "check_payload"
        ) from error
    if not isinstance(values, dict):
        raise UsageError("The payload is not a JSON object.", kind="payload_invalid").during("check_payload")
    return values


def _shown(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(getattr(block, "text", f"[{type(block).__name__}]") for block in content)


def _repeatable(structured: Any) -> Any:
    """The output; a fixed clock sets the tool's own duration to 0."""
    import os

    if os.environ.get("CHECKREIN_CLOCK") and isinstance(structured, dict) and "durationMs" in structured:
        return {**structured, "durationMs": 0}
    return structured
