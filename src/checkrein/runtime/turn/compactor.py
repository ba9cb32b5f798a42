"""Compaction in a session: when it is due, the hooks around it, the summary, and what is recorded."""

from __future__ import annotations

import random
from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Literal

from checkrein.base.ids import new_uuid
from checkrein.facts.models import find_model
from checkrein.llm.port import Block, Cancel, Message, Text
from checkrein.runtime.context import compaction
from checkrein.runtime.context.reminders import memory_type, reminder
from checkrein.runtime.hooks import payloads
from checkrein.runtime.session.events import AssistantBlock, Compacted, Event, Notice, Transition
from checkrein.runtime.turn.request import Asked, ask
from checkrein.runtime.turn.transitions import falls_back

if TYPE_CHECKING:
    from checkrein.runtime.session.engine import Engine

Trigger = Literal["manual", "auto", "reactive"]
DEFAULT_WINDOW = 200_000
RESERVE = 20_000
SUMMARY_TOKENS = 8_000
SUMMARY_FAILURES = 3
"""After so many in a row no more summaries are asked for; what is oldest is dropped instead."""
REFILLS = 3
"""So many times in a row the window may be full again right after a compaction; then the turn ends."""
_SOON = 2
_OFF = ("", "0", "false", "no", "off")


def window(engine: Engine) -> int:
    """The context window: what the service said, else what is known of the model."""
    facts = find_model(engine.state.model)
    known = facts.window if facts else DEFAULT_WINDOW
    return min(known, engine.state.window) if engine.state.window else known


def threshold(engine: Engine) -> int:
    """Prompt tokens above which the context is compacted before the next request."""
    room = window(engine)
    chosen = engine.env.get("CLAUDE_CODE_AUTO_COMPACT_WINDOW") or engine.view.project.setting(
        "autoCompactWindow"
    )
    if str(chosen).isdigit():
        room = min(room, int(chosen))
    limit = room - min(RESERVE, room // 5)
    share = engine.env.get("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "")
    return min(limit, room * int(share) // 100) if share.isdigit() else limit


def is_due(engine: Engine) -> bool:
    """Whether the conversation has come near the window, and nobody switched compaction off."""
    if engine.state.tokens <= threshold(engine) or _is_off(engine, "DISABLE_AUTO_COMPACT"):
        return False
    return engine.view.project.setting("autoCompactEnabled") is not False


def _is_off(engine: Engine, *switches: str) -> bool:
    return any(engine.env.get(name, "").lower() not in _OFF for name in (*switches, "DISABLE_COMPACT"))


def compact(
    engine: Engine, cancel: Cancel, trigger: Trigger, focus: str = ""
) -> Generator[Event, None, Transition | None]:
    """Shrink the conversation. A terminal transition when a hook or a switch forbids what the service
    demands, or when the window fills up again and again."""
    state = engine.state
    if trigger == "manual" and not state.messages:
        yield Notice("info", "There is nothing to compact yet.")
        return None
    refused = yield from _refused(engine, cancel, trigger, focus)
    if refused is not None:
        if trigger == "reactive":
            return Transition("failed", f"prompt too long, and {refused}")
        yield Notice("warning", f"Compaction was skipped: {refused}")
        state.tokens = 0
        return None
    if _thrashes(engine, trigger):
        return Transition("failed", "prompt too long: the context is full again right after compaction")
    if trigger == "reactive":
        state.tokens = max(state.tokens, window(engine))  # it was too long, whatever we thought
    estimated = compaction.estimate(state.messages)
    before = max(estimated, state.tokens)
    scale = before / estimated if estimated else 1.0
    goal = int(threshold(engine) / 2 / scale)
    result = compaction.clear_results(state.messages)
    summary: str | None = None
    if result.tokens > goal or trigger == "manual":
        loaded = engine.prompt.refresh()
        prompt = compaction.last_prompt(state.messages)
        summary = yield from _summary(engine, cancel, result.messages, focus, goal)
        if cancel.cancelled:
            return Transition("interrupted", "by the user")
        active = engine.skills.reattached()
        pinned = engine.prompt.pinned()
        if summary is not None:
            result = compaction.with_summary(pinned, summary, active, prompt)
        else:
            result = compaction.truncate(result.messages, pinned, goal, active)
        yield from _instructions_loaded(engine, [(i.name, memory_type(i.origin.scope)) for i in loaded])
    yield from _adopt(engine, result, trigger, before, int(result.tokens * scale), summary)
    return None


def _refused(
    engine: Engine, cancel: Cancel, trigger: Trigger, focus: str
) -> Generator[Event, None, str | None]:
    """Why there is no compaction: a switch, or the PreCompact hooks."""
    if _is_off(engine):
        return "compaction is switched off (DISABLE_COMPACT)"
    events: list[Event] = []
    payload = payloads.pre_compact(engine.firing.common, _word(trigger), focus)
    outcome = engine.firing.fire(payload, events.append, cancel)
    yield from events
    return f"a PreCompact hook forbids compaction: {outcome.reason}" if outcome.blocked else None


def _thrashes(engine: Engine, trigger: Trigger) -> bool:
    state = engine.state
    soon = state.compacted_at is not None and state.requests - state.compacted_at <= _SOON
    state.refills = state.refills + 1 if soon and trigger != "manual" else 0
    state.compacted_at = state.requests
    return state.refills >= REFILLS


def _summary(
    engine: Engine, cancel: Cancel, messages: tuple[Message, ...], focus: str, goal: int
) -> Generator[Event, None, str | None]:
    """The summary, or None when the model gave none. A history that is too long to be summarised whole is
    asked about without its oldest part. A person who interrupts is no failure."""
    state = engine.state
    if state.summary_failures >= SUMMARY_FAILURES:
        return None
    asked = yield from _ask(engine, cancel, messages, focus)
    if asked.error is not None and asked.error.kind in ("prompt_too_long", "window_exceeded"):
        shorter = compaction.truncate(messages, engine.prompt.pinned(), goal).messages
        asked = yield from _ask(engine, cancel, shorter, focus)
    text = asked.reply.text.strip() if asked.reply is not None else ""
    if not text and cancel.cancelled:
        return None
    if not text:
        state.summary_failures += 1
        why = asked.error.message if asked.error is not None else "the model said nothing"
        yield Notice("warning", f"No summary: {why}. The oldest part of the conversation is dropped instead.")
        return None
    state.summary_failures = 0
    return text


def _ask(
    engine: Engine, cancel: Cancel, messages: Sequence[Message], focus: str
) -> Generator[Event, None, Asked]:
    """Ask for a summary, with retries and then the other models, as for every request."""
    while True:
        asked = yield from _ask_once(engine, cancel, messages, focus)
        if asked.error is None or not falls_back(asked.error, engine.fallbacks_left):
            return asked
        yield Notice("warning", f"{asked.error.message} Going on with {engine.fall_back()}.")


def _ask_once(
    engine: Engine, cancel: Cancel, messages: Sequence[Message], focus: str
) -> Generator[Event, None, Asked]:
    """The request has the same system, tools and history, and so reads the cache."""
    request = engine.request(compaction.summary_request(messages, focus), SUMMARY_TOKENS)
    chance = random.Random(0)  # noqa: S311  spreads retries
    stream = ask(engine.model, request, cancel, engine.options.retry, partial=False, chance=chance)
    while True:
        try:
            event = next(stream)
        except StopIteration as end:
            asked: Asked = end.value
            break
        if not isinstance(event, AssistantBlock):
            yield event
    reply = asked.reply
    if reply is not None:
        cost = engine.cost(reply)
        engine.meter.add(reply.model or engine.state.model, reply.usage, cost, asked.seconds)
        engine.recorder.aside(reply, cost)
    return asked


def _instructions_loaded(
    engine: Engine, files: list[tuple[str, Literal["User", "Project", "Local", "Managed"]]]
) -> Generator[Event, None, None]:
    if not engine.firing.runner.has("InstructionsLoaded"):
        return
    for name, kind in files:
        events: list[Event] = []
        payload = payloads.instructions_loaded(engine.firing.common, name, kind, "compact")
        engine.firing.fire(payload, events.append, Cancel())
        yield from events


def _adopt(
    engine: Engine, result: compaction.Outcome, trigger: Trigger, before: int, after: int, summary: str | None
) -> Generator[Event, None, None]:
    state = engine.state
    events: list[Event] = []
    payload = payloads.post_compact(engine.firing.common, _word(trigger), summary or "")
    engine.firing.fire(payload, events.append, Cancel())
    yield from events
    told: list[Event] = []
    anew = result.stage != "results cleared"
    messages = list(result.messages)
    if anew:
        engine.lazy.forget()
        messages[0] = _with_start_hooks(engine, messages[0], told)
    yield from told
    state.messages = messages
    state.sent = 0
    state.max_tokens = None
    state.last = None
    state.tokens = after
    state.break_reason = f"the conversation was compacted ({result.stage})"
    uuid = new_uuid()
    engine.recorder.compacted(state.messages, trigger, before)
    yield Compacted(trigger, before, after, result.stage, uuid)


def _with_start_hooks(engine: Engine, first: Message, events: list[Event]) -> Message:
    """What the SessionStart hooks want said when a conversation starts anew stands at its beginning's end."""
    payload = payloads.session_start(engine.firing.common, "compact", model=engine.state.model)
    outcome = engine.firing.fire(payload, events.append, Cancel())
    added: list[Block] = [Text(reminder(context.text)) for context in outcome.additional_context]
    return Message(first.role, (*first.content, *added)) if added else first


def _word(trigger: Trigger) -> Literal["manual", "auto"]:
    return "manual" if trigger == "manual" else "auto"
