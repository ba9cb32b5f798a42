"""Compaction in a session: when it is due, the hooks around it, the summary, and what is recorded."""

from __future__ import annotations

import random
from collections.abc import Generator
from typing import TYPE_CHECKING, Literal

from bridle.facts.models import find_model
from bridle.llm.port import Cancel, Message
from bridle.runtime.asking import ask
from bridle.runtime.context import compaction
from bridle.runtime.events import AssistantBlock, Compacted, Event, Notice, Transition
from bridle.runtime.hooks import payloads
from bridle.runtime.state import COMPACTION_FAILURES

if TYPE_CHECKING:
    from bridle.runtime.engine import Engine

Trigger = Literal["manual", "auto", "reactive"]
DEFAULT_WINDOW = 200_000
RESERVE = 20_000
SUMMARY_TOKENS = 8_000


def threshold(engine: Engine) -> int:
    """Prompt tokens above which the context is compacted before the next request."""
    facts = find_model(engine.state.model)
    window = facts.window if facts else DEFAULT_WINDOW
    chosen = engine.env.get("CLAUDE_CODE_AUTO_COMPACT_WINDOW") or engine.view.project.setting(
        "autoCompactWindow"
    )
    if str(chosen).isdigit():
        window = min(window, int(chosen))
    share = engine.env.get("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "")
    limit = window - min(RESERVE, window // 5)
    return min(limit, window * int(share) // 100) if share.isdigit() else limit


def is_due(engine: Engine) -> bool:
    """Whether the last reply's prompt has come near the window, and nobody switched compaction off."""
    last = engine.state.last
    off = engine.env.get("DISABLE_AUTO_COMPACT") or engine.env.get("DISABLE_COMPACT")
    if last is None or off or engine.view.project.setting("autoCompactEnabled") is False:
        return False
    if engine.state.compaction_failures >= COMPACTION_FAILURES:
        return False
    return last.usage.prompt + last.usage.output > threshold(engine)


def compact(
    engine: Engine, cancel: Cancel, trigger: Trigger, focus: str = ""
) -> Generator[Event, None, Transition | None]:
    """Shrink the conversation. A terminal transition only when a hook forbids what the service demands."""
    state = engine.state
    before = max(compaction.estimate(state.messages), state.last.usage.prompt if state.last else 0)
    events: list[Event] = []
    word: Literal["manual", "auto"] = "manual" if trigger == "manual" else "auto"
    outcome = engine.firing.fire(
        payloads.pre_compact(engine.firing.common, word, focus), events.append, cancel
    )
    yield from events
    if outcome.blocked:
        if trigger == "reactive":
            return Transition(
                "failed", f"prompt too long, and a PreCompact hook forbids compaction: {outcome.reason}"
            )
        yield Notice("warning", f"Compaction was skipped: {outcome.reason}")
        state.compaction_failures += 1
        return None
    goal = threshold(engine) // 2
    result = compaction.clear_results(state.messages)
    summary: str | None = None
    if result.tokens > goal or trigger == "manual":
        summary = yield from _summarise(engine, cancel, result.messages, focus)
        if summary is not None:
            result = compaction.with_summary(engine.prompt.pinned(), summary, engine.skills.reattached())
            state.compaction_failures = 0
        else:
            state.compaction_failures += 1
            result = compaction.truncate(result.messages, engine.prompt.pinned(), goal)
    yield from _adopt(engine, result, trigger, before, summary)
    return None


def _summarise(
    engine: Engine, cancel: Cancel, messages: tuple[Message, ...], focus: str
) -> Generator[Event, None, str | None]:
    """The summary, or None when the model gave none. The request has the same system, tools and history."""
    if engine.state.compaction_failures >= COMPACTION_FAILURES:
        return None
    request = engine.request(compaction.summary_request(messages, focus), SUMMARY_TOKENS)
    chance = random.Random(0)  # noqa: S311  spreads retries
    stream = ask(engine.model, request, cancel, engine.options.retry, partial=False, chance=chance)
    while True:
        try:
            event = next(stream)
        except StopIteration as end:
            asked = end.value
            break
        if not isinstance(event, AssistantBlock):
            yield event
    if asked.reply is None:
        return None
    engine.meter.add(
        asked.reply.model or engine.state.model, asked.reply.usage, engine.cost(asked.reply), asked.seconds
    )
    return asked.reply.text.strip() or None


def _adopt(
    engine: Engine, result: compaction.Outcome, trigger: Trigger, before: int, summary: str | None
) -> Generator[Event, None, None]:
    state = engine.state
    state.messages = list(result.messages)
    state.sent = 0
    state.max_tokens = None
    state.last = None
    engine.lazy.forget()
    engine.recorder.compacted(state.messages, trigger, before)
    yield Compacted(trigger, before, result.tokens, result.stage)
    state.break_reason = f"the conversation was compacted ({result.stage})"
    events: list[Event] = []
    word: Literal["manual", "auto"] = "manual" if trigger == "manual" else "auto"
    engine.firing.fire(
        payloads.post_compact(engine.firing.common, word, summary or ""), events.append, Cancel()
    )
    yield from events
