"""`turn-loop`: prompts in one session, one after the other, within limits.

Turn 0 sends the prompt, each later turn the continuation prompt unchanged; without one the loop ends after
turn 0. It ends at the first turn that does not complete. It checks limits before a turn starts, so a turn
that did not start leaves no trace.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.errors import CheckreinError, UsageError
from checkrein.base.origin import Origin
from checkrein.protocol.machine.driver import Driver, Ran
from checkrein.protocol.machine.inventory import commands, tools
from checkrein.protocol.machine.payloads import Limits, Looped, Turn
from checkrein.protocol.machine.route import Routed, route
from checkrein.protocol.machine.sessions import empty_prompt
from checkrein.protocol.machine.setup import Setup, project_of
from checkrein.protocol.machine.turns import failure_of, tokens, turn_of, unstarted
from checkrein.runtime.session.events import Event

_BYTES_PER_TOKEN = 4
"""The estimate for the size of a prompt before it is sent."""

SUMMARY_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"summary": {"type": "array", "items": {"type": "string"}}},
    "required": ["summary"],
}
"""The schema for `--structured-output`: the answer as a list of lines."""


Warned = tuple[Diagnostic, ...]


def turn_loop(
    prompt: str,
    continuation: str | None,
    setup: Setup,
    limits: Limits,
    limit: int = 5,
    listen: Callable[[Event], None] | None = None,
) -> tuple[Looped, Warned]:
    """Raises a CheckreinError whose details are the payload so far when a turn failed or a signal came.
    `listen` gets every event, in the thread that does the work."""
    _check(prompt, continuation, limits)
    began = time.monotonic()
    until = None if limits.timeout_seconds is None else began + limits.timeout_seconds
    routed = start_routing(prompt, setup, limit)
    driver = Driver(setup, until, limits.grace_seconds, listen)
    turns: list[Turn] = []

    def told() -> Looped:
        return _payload(prompt, continuation, setup, limits, driver, turns)

    if limits.max_turns == 0:
        return told(), ()
    if until is not None and limits.timeout_seconds is not None and limits.timeout_seconds <= 0:
        turns.append(unstarted(prompt, routed, driver.usage, "timeout", True))
        return told(), ()
    with driver:
        opened = driver.open()
        if opened.late:
            turns.append(unstarted(prompt, routed, driver.usage, "timeout", opened.observed))
            if opened.stop is not None:
                raise opened.stop
            return told(), driver.skipped
        for ran in _runs(prompt, continuation, setup, limits, driver, turns, routed):
            if ran.stop is not None:
                raise _stopped(ran.stop, told())
            if turns[-1].stop_reason == "failed":
                raise failure_of(ran).during("turn_loop", driver.session.id, **_details(told()))
        return told(), (*driver.skipped, *_suspected(driver))


def _runs(
    prompt: str,
    continuation: str | None,
    setup: Setup,
    limits: Limits,
    driver: Driver,
    turns: list[Turn],
    routed: Routed,
) -> Iterator[Ran]:
    for number in range(limits.max_turns):
        said = prompt if number == 0 else continuation
        if said is None:
            return
        if driver.until is not None and time.monotonic() >= driver.until:
            turns.append(unstarted(said, routed, driver.usage, "timeout", True))
            return
        if _over_budget(said, setup, driver):
            turns.append(unstarted(said, routed, driver.usage, "max_budget_reached", False))
            return
        ends = [driver.until] if driver.until is not None else []
        if limits.turn_timeout_seconds is not None:
            ends.append(time.monotonic() + limits.turn_timeout_seconds)
        ran = driver.run(said, min(ends) if ends else None)
        turns.append(turn_of(ran, routed, driver.usage))
        yield ran
        if turns[-1].stop_reason != "completed":
            return


def _check(prompt: str, continuation: str | None, limits: Limits) -> None:
    if not prompt.strip() or (continuation is not None and not continuation.strip()):
        raise empty_prompt()
    for name, value in msgspec.structs.asdict(limits).items():
        if value is not None and value < 0 and name != "timeout_seconds":
            flag = f"--{name.replace('_', '-')}"
            raise UsageError(f"{flag} must not be negative.", kind="invalid_flag_value").during("parse", flag)


def _over_budget(prompt: str, setup: Setup, driver: Driver) -> bool:
    """Whether the usage so far plus this prompt exceeds the limit."""
    if setup.max_budget_tokens is None:
        return False
    estimate = -(-len(prompt.encode()) // _BYTES_PER_TOKEN)
    return driver.usage.total + estimate > setup.max_budget_tokens


def start_routing(prompt: str, setup: Setup, limit: int) -> Routed:
    """What the first prompt mentions; it is the same for every turn."""
    return route(prompt, [*commands(project_of(setup)), *tools(setup.project)], limit)


def _payload(
    prompt: str,
    continuation: str | None,
    setup: Setup,
    limits: Limits,
    driver: Driver,
    turns: list[Turn],
) -> Looped:
    talk = driver.session.conversation if driver.is_open else None
    last = turns[-1] if turns else None
    return Looped(
        prompt=prompt,
        max_turns=limits.max_turns,
        turns_completed=len(turns),
        timeout_seconds=limits.timeout_seconds,
        continuation_prompt=continuation,
        turns=tuple(turns),
        final_stop_reason=last.stop_reason if last else None,
        final_cancel_observed=last.cancel_observed if last else False,
        turn_timeout_seconds=limits.turn_timeout_seconds,
        grace_seconds=limits.grace_seconds,
        max_budget_tokens=setup.max_budget_tokens,
        session_id=driver.session.id if talk else None,
        persisted_session_path=str(talk.recorder.writer.path) if talk else None,
        suspect=driver.suspect,
        model=talk.models.name if talk else None,
        model_requested=setup.model,
        permission_mode=talk.gate.mode if talk else None,
        permission_mode_source=_mode_source(setup, driver) if talk else None,
        denied_tools=driver.denied,
        usage=tokens(driver.usage),
        usage_source="provider",
        cost_usd=float(talk.meter.cost) if talk else 0.0,
        permission_denials=tuple(denial for turn in turns for denial in turn.permission_denials),
    )


def _mode_source(setup: Setup, driver: Driver) -> str:
    if setup.permission_mode is not None:
        return "flag"
    said = driver.session.conversation.view.project.setting("permissions.defaultMode")
    return "settings" if said is not None else "default"


def _stopped(stop: KeyboardInterrupt, told: Looped) -> CheckreinError:
    kind, how = (
        ("terminated", "SIGTERM") if type(stop) is not KeyboardInterrupt else ("interrupted", "SIGINT")
    )
    error = CheckreinError(f"The loop was stopped by {how}.", kind=kind, retryable=True)
    return error.during("turn_loop", told.session_id or "", **_details(told))


def _details(told: Looped) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.to_builtins(told, enc_hook=str)
    return found


def _suspected(driver: Driver) -> Warned:
    if not driver.was_suspect:
        return ()
    message = "The resumed session is suspect: an earlier turn in it did not acknowledge its end."
    hint = "Start a new session, or look at the transcript."
    origin = Origin(str(driver.session.conversation.recorder.writer.path), "user")
    return (Diagnostic("PROTO003", "warning", message, origin, hint=hint),)
