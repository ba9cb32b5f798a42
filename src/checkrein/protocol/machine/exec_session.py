"""`exec-command` with a model, and `bootstrap`: one prompt in a new session."""

from __future__ import annotations

import platform
import time
from typing import Any

from checkrein.base.clock import elapsed_ms
from checkrein.base.diagnostic import Diagnostic
from checkrein.llm.port import Text
from checkrein.protocol.machine.execute import one_line, too_late
from checkrein.protocol.machine.inventory import Entry
from checkrein.protocol.machine.payloads import Bootstrapped, CommandRun, Limits, Looped, Machine, TurnBrief
from checkrein.protocol.machine.setup import Setup
from checkrein.protocol.machine.stages import graph, ran
from checkrein.protocol.machine.turn_loop import start_routing, turn_loop
from checkrein.runtime.session.events import Event, PromptAccepted, ToolFinished

Warned = tuple[Diagnostic, ...]


def run_in_session(
    entry: Entry, prompt: str, setup: Setup, timeout: float | None, grace: float
) -> tuple[CommandRun, Warned]:
    began = time.monotonic()
    seen: list[Event] = []
    limits = Limits(max_turns=1, timeout_seconds=timeout, grace_seconds=grace)
    said = f"/{entry.name} {prompt}".rstrip()
    looped, warned = turn_loop(said, None, setup, limits, 0, seen.append)
    turn = looped.turns[0]
    if turn.stop_reason == "timeout":
        error = too_late(entry.name, timeout, turn.cancel_observed)
        raise error.during("run", session_id=looped.session_id, suspect=looped.suspect)
    run = CommandRun(
        name=entry.name,
        prompt=prompt,
        source_hint=entry.source_hint,
        handled=True,
        message=one_line(turn.output) if turn.output else f"/{entry.name}: {turn.stop_reason}",
        expansion=_expansion(seen),
        executed=True,
        output=turn.output,
        stop_reason=turn.stop_reason,
        cancel_observed=turn.cancel_observed,
        session_id=looped.session_id,
        persisted_session_path=looped.persisted_session_path,
        usage=looped.usage,
        permission_denials=looped.permission_denials,
        duration_ms=elapsed_ms(began),
    )
    return run, warned


def bootstrap(
    prompt: str, setup: Setup, limit: int, timeout: float | None, grace: float
) -> tuple[Bootstrapped, Warned]:
    """Check every stage, then run one turn and report all results."""
    routed = start_routing(prompt, setup, limit)
    stages = graph(setup)[0].stages
    seen: list[Event] = []
    limits = Limits(max_turns=1, timeout_seconds=timeout, grace_seconds=grace)
    looped, warned = turn_loop(prompt, None, setup, limits, limit, seen.append)
    turn = looped.turns[0]
    told = Bootstrapped(
        prompt=prompt,
        limit=limit,
        setup=machine(),
        routed_matches=routed.matches,
        command_execution_messages=tuple(_commands(seen)),
        tool_execution_messages=tuple(_tool_line(event) for event in _finished(seen)),
        turn=TurnBrief(turn.prompt, turn.output, turn.stop_reason, turn.cancel_observed),
        persisted_session_path=looped.persisted_session_path,
        session_id=looped.session_id,
        stages=ran(stages) if looped.session_id else stages,
        **_shared(looped),
    )
    return told, warned


def machine() -> Machine:
    return Machine(
        platform.python_version(), platform.python_implementation(), platform.platform(), "checkrein doctor"
    )


_SHARED = (
    "final_stop_reason",
    "final_cancel_observed",
    "suspect",
    "model",
    "permission_mode",
    "usage",
    "cost_usd",
    "permission_denials",
)


def _shared(looped: Looped) -> dict[str, Any]:
    return {name: getattr(looped, name) for name in _SHARED}


def _finished(seen: list[Event]) -> list[ToolFinished]:
    return [event for event in seen if isinstance(event, ToolFinished)]


def _tool_line(event: ToolFinished) -> str:
    how = f"refused: {event.reason}" if event.refused else "failed" if event.is_error else "done"
    return f"{event.name}: {how}"


def _commands(seen: list[Event]) -> list[str]:
    """The expanded commands, found by the header at the start of their prompts."""
    heads = [
        block.text
        for event in seen
        if isinstance(event, PromptAccepted)
        for block in event.message.content
        if isinstance(block, Text) and block.text.startswith("<command-message>")
    ]
    names = [head.partition(">")[2].partition("<")[0] for head in heads]
    return [f"{name}: expanded" for name in names]


def _expansion(seen: list[Event]) -> str:
    accepted = next((event for event in seen if isinstance(event, PromptAccepted)), None)
    if accepted is None:
        return ""
    texts = [block.text for block in accepted.message.content if isinstance(block, Text)]
    return "\n".join(text for text in texts if not text.startswith("<command-message>"))
