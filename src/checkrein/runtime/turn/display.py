"""Text on its way to people: MessageDisplay hooks may replace the model's text.

Only the shown text changes. The conversation, the transcript and the other hooks get the model's own words.
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
    from checkrein.runtime.session.conversation import Conversation


def displayed(
    conversation: Conversation, events: Generator[Event, None, Asked], cancel: Cancel
) -> Generator[Event, None, Asked]:
    """The events of one reply. With MessageDisplay hooks they wait until it is whole and the hooks have seen
    its text; `state.shown` is the text that they give instead."""
    conversation.state.shown = None
    if not conversation.hooks.has("MessageDisplay"):
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
    shown = (yield from _ask(conversation, text, cancel)) if text.strip() else None
    conversation.state.shown = shown
    yield from held if shown is None else _replaced(conversation, held, shown)
    return asked


def _ask(conversation: Conversation, text: str, cancel: Cancel) -> Generator[Event, None, str | None]:
    common = conversation.hooks.common
    payload = payloads.message_display(common, common.prompt_id or new_uuid(), new_uuid(), text)
    outcome = yield from conversation.hooks.fire(payload, cancel)
    yield from (Notice("warning", error) for error in outcome.errors)
    return outcome.display_content


def _replaced(conversation: Conversation, held: list[Event], shown: str) -> Iterator[Event]:
    """The first text of the reply holds the shown text; its other texts become empty."""
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
                conversation.state.displays[event.uuid] = spoken
                spoken = ""
                yield event
            case _:
                yield event


def as_shown(conversation: Conversation, event: Event) -> Event:
    """The event as people and programs get it. The transcript has the original."""
    if not isinstance(event, AssistantBlock) or event.uuid not in conversation.state.displays:
        return event
    return replace(event, block=Text(conversation.state.displays.pop(event.uuid)))
