"""Text on its way to people: MessageDisplay hooks may show something else than what the model said.

Only what is shown changes. The conversation, the transcript and the other hooks have the model's own words.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from checkrein.base.ids import new_uuid
from checkrein.llm.port import BlockCompleted, Cancel, Text, TextDelta
from checkrein.runtime.hooks import payloads
from checkrein.runtime.session.events import AssistantBlock, Event, Notice, Retrying, Streamed
from checkrein.runtime.turn.request import Asked

if TYPE_CHECKING:
    from checkrein.runtime.session.engine import Engine


def displayed(
    engine: Engine, events: Generator[Event, None, Asked], cancel: Cancel
) -> Generator[Event, None, Asked]:
    """The events of one reply. With MessageDisplay hooks they wait until it is whole and the hooks have seen
    its text; `state.shown` is what they put in its place."""
    engine.state.shown = None
    if not engine.firing.runner.has("MessageDisplay"):
        return (yield from events)
    held: list[Event] = []
    while True:
        try:
            event = next(events)
        except StopIteration as end:
            asked: Asked = end.value
            break
        if isinstance(event, Retrying):
            held.clear()
            yield event
        else:
            held.append(event)
    text = asked.reply.text if asked.reply is not None else ""
    shown = (yield from _ask(engine, text, cancel)) if text.strip() else None
    engine.state.shown = shown
    yield from held if shown is None else _replaced(engine, held, shown)
    return asked


def _ask(engine: Engine, text: str, cancel: Cancel) -> Generator[Event, None, str | None]:
    events: list[Event] = []
    common = engine.firing.common
    payload = payloads.message_display(common, common.prompt_id or new_uuid(), new_uuid(), text)
    outcome = engine.firing.fire(payload, events.append, cancel)
    yield from events
    yield from (Notice("warning", error) for error in outcome.errors)
    return outcome.display_content


def _replaced(engine: Engine, held: list[Event], shown: str) -> Iterator[Event]:
    """The first text of the reply is the one that is shown; its other texts are empty."""
    streamed = whole = spoken = shown
    for event in held:
        match event:
            case Streamed(event=TextDelta() as delta):
                if streamed:
                    yield Streamed(replace(delta, text=streamed))
                streamed = ""
            case Streamed(event=BlockCompleted(block=Text()) as completed):
                yield Streamed(replace(completed, block=Text(whole)))
                whole = ""
            case AssistantBlock(block=Text()):
                engine.state.displays[event.uuid] = spoken
                spoken = ""
                yield event
            case _:
                yield event


def as_shown(engine: Engine, event: Event) -> Event:
    """The event as people and programs get it, after it was recorded as it is."""
    if not isinstance(event, AssistantBlock) or event.uuid not in engine.state.displays:
        return event
    return replace(event, block=Text(engine.state.displays.pop(event.uuid)))
