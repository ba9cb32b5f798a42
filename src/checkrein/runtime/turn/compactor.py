"""Compaction in a session: when it is due, its hooks, the summary, and the record of it."""

from __future__ import annotations

import random
from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from checkrein.base.ids import new_uuid
from checkrein.facts.models import find_model
from checkrein.llm.port import Block, Cancel, Message, Text
from checkrein.runtime.context import compaction
from checkrein.runtime.context.reminders import memory_type, reminder
from checkrein.runtime.hooks import payloads
from checkrein.runtime.session.events import AssistantBlock, Compacted, Compacting, Event, Notice, Transition
from checkrein.runtime.session.graces import HOOKS_UNTIL
from checkrein.runtime.turn.prefix import announced
from checkrein.runtime.turn.request import Asked, ask
from checkrein.runtime.turn.transitions import falls_back, stopped

if TYPE_CHECKING:
    from checkrein.runtime.session.conversation import Conversation

Trigger = Literal["manual", "auto", "reactive"]
Layer = Literal["User", "Project", "Local", "Managed"]
Form = tuple[str | None, tuple[Message, ...]]
"""A history for a summary, and why it is not the one that the model had."""
_TOO_LONG = "the history is too long for its summary"
_DEFAULT_WINDOW = 200_000
_RESERVE = 20_000
_SUMMARY_TOKENS = 8_000
SUMMARY_FAILURES = 3
"""After so many failures in a row, compaction drops the oldest part and asks for no summary."""
REFILLS = 3
"""When the window is full again right after a compaction so many times in a row, the turn ends."""
_SOON = 2
_OFF = ("", "0", "false", "no", "off")


def window(conversation: Conversation) -> int:
    """The context window: from the service, else from the facts about the model."""
    facts = find_model(conversation.state.model)
    known = facts.window if facts else _DEFAULT_WINDOW
    return min(known, conversation.state.window) if conversation.state.window else known


def threshold(conversation: Conversation) -> int:
    """Above so many prompt tokens, compaction comes before the next request."""
    room = window(conversation)
    chosen = conversation.env.get("CLAUDE_CODE_AUTO_COMPACT_WINDOW") or conversation.view.project.setting(
        "autoCompactWindow"
    )
    if str(chosen).isdigit():
        room = min(room, int(chosen))
    limit = room - min(_RESERVE, room // 5)
    share = conversation.env.get("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "")
    return min(limit, room * int(share) // 100) if share.isdigit() else limit


def is_due(conversation: Conversation) -> bool:
    """Whether the conversation is close to the window and compaction is not switched off."""
    return conversation.state.tokens > threshold(conversation) and auto_compacts(conversation)


def auto_compacts(conversation: Conversation) -> bool:
    """Whether the conversation may be compacted without anybody asking for it."""
    if _is_off(conversation, "DISABLE_AUTO_COMPACT"):
        return False
    return conversation.view.project.setting("autoCompactEnabled") is not False


def _is_off(conversation: Conversation, *switches: str) -> bool:
    return any(conversation.env.get(name, "").lower() not in _OFF for name in (*switches, "DISABLE_COMPACT"))


def compact(
    conversation: Conversation, cancel: Cancel, trigger: Trigger, focus: str = ""
) -> Generator[Event, None, Transition | None]:
    """Shrink the conversation. Returns a terminal transition when a hook or a switch forbids what the
    service demands, or when the window keeps filling up."""
    state = conversation.state
    if trigger == "manual" and not state.messages:
        yield Notice("info", "There is nothing to compact yet.")
        return None
    refused = yield from _refused(conversation, cancel, trigger, focus)
    if refused is not None:
        if trigger == "reactive":
            return Transition("failed", f"prompt too long, and {refused}")
        yield Notice("warning", f"Compaction was skipped: {refused}")
        state.tokens = 0
        return None
    if _thrashes(conversation, trigger):
        return Transition("failed", "prompt too long: the context is full again right after compaction")
    if trigger == "reactive":
        state.tokens = max(state.tokens, window(conversation))  # the service knows better than the estimate
    yield Compacting(True)
    estimated = compaction.estimate(state.messages)
    before = max(estimated, state.tokens)
    scale = before / estimated if estimated else 1.0
    goal = int(threshold(conversation) / 2 / scale)
    result = compaction.clear_results(state.messages)
    summary: str | None = None
    files: list[tuple[str, Layer]] = []
    if result.tokens > goal or trigger == "manual":
        prompt = compaction.last_prompt(state.messages)
        summary = yield from _summary(conversation, cancel, _forms(conversation, trigger, goal), focus)
        if cancel.cancelled:
            conversation.backdrop.prefix.rewound(tuple(state.messages[: state.sent]))
            yield Compacting(False)
            return stopped(cancel)
        loaded = conversation.backdrop.prompt.refresh()
        active = conversation.skills.active.reattached()
        pinned = conversation.backdrop.prompt.pinned()
        if summary is not None:
            result = compaction.with_summary(pinned, summary, active, prompt)
        else:
            result = compaction.truncate(result.messages, pinned, goal, active)
        files = [(i.name, memory_type(i.origin.scope)) for i in loaded]
    after = int(result.tokens * scale)
    with cancel.outlasted(HOOKS_UNTIL) as later:
        yield from _instructions_loaded(conversation, later, files)
        yield from _adopt(conversation, later, result, trigger, before, after, summary)
    standing = conversation.desk.standing() if files or summary is not None else ""
    if standing:
        yield from conversation.note(f"Work that you have in the background:\n{standing}", "tasks")
    yield Compacting(False)
    return None


def _refused(
    conversation: Conversation, cancel: Cancel, trigger: Trigger, focus: str
) -> Generator[Event, None, str | None]:
    """Why compaction may not run: a switch, or the PreCompact hooks."""
    if _is_off(conversation):
        return "compaction is switched off (DISABLE_COMPACT)"
    payload = payloads.pre_compact(conversation.hooks.common, _word(trigger), focus)
    outcome = yield from conversation.hooks.fire(payload, cancel)
    return f"a PreCompact hook forbids compaction: {outcome.reason}" if outcome.blocked else None


def _thrashes(conversation: Conversation, trigger: Trigger) -> bool:
    state = conversation.state
    soon = state.compacted_at is not None and state.requests - state.compacted_at <= _SOON
    state.refills = state.refills + 1 if soon and trigger != "manual" else 0
    state.compacted_at = state.requests
    return state.refills >= REFILLS


def _forms(conversation: Conversation, trigger: Trigger, goal: int) -> Iterator[Form]:
    """The history for a summary: as the model had it, and then shorter forms for a service that refuses
    it."""
    messages = conversation.state.messages
    if trigger == "reactive":
        yield (
            "the service refused the newest message: its summary gets the ends of it",
            compaction.cut_newest(messages),
        )
    else:
        yield None, tuple(messages)
    cleared = compaction.clear_results(messages).messages
    if cleared != tuple(messages):
        yield f"{_TOO_LONG}: old results are left out", cleared
    pinned = conversation.backdrop.prompt.pinned()
    yield f"{_TOO_LONG}: old messages are left out", compaction.truncate(cleared, pinned, goal).messages


def _summary(
    conversation: Conversation, cancel: Cancel, forms: Iterable[Form], focus: str
) -> Generator[Event, None, str | None]:
    """The summary, or None when the model gave none. A history that is too long for the service goes out
    again in its next form. An interrupt does not count as a failure."""
    state = conversation.state
    if state.summary_failures >= SUMMARY_FAILURES:
        return None
    for shortened, messages in forms:
        state.break_reason = shortened or state.break_reason
        asked = yield from _ask(conversation, cancel, messages, focus)
        if asked.error is None or asked.error.kind not in ("prompt_too_long", "window_exceeded"):
            break
    text = asked.reply.text.strip() if asked.reply is not None else ""
    if not text and cancel.cancelled:
        return None
    if not text:
        state.summary_failures += 1
        why = asked.error.message if asked.error is not None else "the reply was empty"
        yield Notice(
            "warning", f"No summary: {why}. Compaction drops the oldest part of the conversation instead."
        )
        return None
    state.summary_failures = 0
    return text


def _ask(
    conversation: Conversation, cancel: Cancel, messages: Sequence[Message], focus: str
) -> Generator[Event, None, Asked]:
    """Ask for a summary, with retries and then the other models, as for every request."""
    while True:
        asked = yield from _ask_once(conversation, cancel, messages, focus)
        if asked.error is None or not falls_back(asked.error, conversation.models.fallbacks_left):
            return asked
        yield Notice("warning", f"{asked.error.message} Continuing with {conversation.fall_back()}.")


def _ask_once(
    conversation: Conversation, cancel: Cancel, messages: Sequence[Message], focus: str
) -> Generator[Event, None, Asked]:
    """The request has the same system, tools and history, and so reads the cache."""
    thinking = conversation.options.thinking
    limit = _SUMMARY_TOKENS + (thinking if isinstance(thinking, int) else 0)
    request = conversation.request(compaction.summary_request(messages, focus), limit)
    yield from announced(conversation, request)
    chance = random.Random(0)  # noqa: S311  spreads retries
    stream = ask(conversation.models.model, request, cancel, conversation.retry, partial=False, chance=chance)
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
        cost = conversation.cost(reply)
        conversation.meter.add(reply.model or conversation.state.model, reply.usage, cost, asked.seconds)
        conversation.recorder.aside(reply, cost)
    return asked


def _instructions_loaded(
    conversation: Conversation, cancel: Cancel, files: list[tuple[str, Layer]]
) -> Generator[Event, None, None]:
    if not conversation.hooks.has("InstructionsLoaded"):
        return
    for name, kind in files:
        if cancel.cancelled:
            return
        payload = payloads.instructions_loaded(conversation.hooks.common, name, kind, "compact")
        yield from conversation.hooks.fire(payload, cancel)


def _adopt(
    conversation: Conversation,
    cancel: Cancel,
    result: compaction.Outcome,
    trigger: Trigger,
    before: int,
    after: int,
    summary: str | None,
) -> Generator[Event, None, None]:
    state = conversation.state
    payload = payloads.post_compact(conversation.hooks.common, _word(trigger), summary or "")
    yield from conversation.hooks.fire(payload, cancel)
    messages = list(result.messages)
    if result.stage != "results cleared":
        conversation.backdrop.lazy.forget()
        messages[0] = yield from _with_start_hooks(conversation, cancel, messages[0])
    state.messages = messages
    state.sent = 0
    state.max_tokens = None
    state.last = None
    state.tokens = after
    state.break_reason = f"the conversation was compacted ({result.stage})"
    uuid = new_uuid()
    conversation.recorder.compacted(state.messages, trigger, before)
    yield Compacted(trigger, before, after, result.stage, uuid)


def _with_start_hooks(
    conversation: Conversation, cancel: Cancel, first: Message
) -> Generator[Event, None, Message]:
    """The first message of a compacted conversation, with what the SessionStart hooks add to it."""
    payload = payloads.session_start(conversation.hooks.common, "compact", model=conversation.state.model)
    outcome = yield from conversation.hooks.fire(payload, cancel)
    added: list[Block] = [Text(reminder(context.text)) for context in outcome.additional_context]
    return Message(first.role, (*first.content, *added)) if added else first


def _word(trigger: Trigger) -> Literal["manual", "auto"]:
    return "manual" if trigger == "manual" else "auto"
