"""Text on its way to people: MessageDisplay hooks may replace the model's text.

Only the shown text changes. The conversation, the transcript and the other hooks get the model's own words.
While a reply streams, the hooks get it in batches of lines; a batch appears when they have seen it.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from checkrein.base.ids import new_uuid
from checkrein.llm.port import BlockCompleted, BlockStarted, Cancel, Text, TextDelta
from checkrein.runtime.hooks import payloads
from checkrein.runtime.session.events import AssistantBlock, Event, HookFinished, Notice, Retrying, Streamed
from checkrein.runtime.turn.request import Asked

if TYPE_CHECKING:
    from checkrein.runtime.secrets.vault import Vault
    from checkrein.runtime.session.conversation import Conversation

_BATCH_SECONDS = 0.2
"""How long lines wait for others before the hooks get them."""
_LINE_SECONDS = 1.0
"""How long a line may take before its whole words go ahead."""


def displayed(
    conversation: Conversation, events: Generator[Event, None, Asked], cancel: Cancel
) -> Generator[Event, None, Asked]:
    """The events of one reply, with the text that MessageDisplay hooks give instead; `state.shown` is the
    whole of it."""
    conversation.state.shown = None
    if not conversation.hooks.has("MessageDisplay"):
        return (yield from events)
    display = _Display(conversation, cancel)
    while True:
        try:
            event = next(events)
        except StopIteration as end:
            asked: Asked = end.value
            break
        if isinstance(event, Retrying):
            display = _Display(conversation, cancel)
            yield event
        else:
            yield from display.take(event)
    yield from display.end()
    return asked


class _Display:
    """One reply. `_held` are events that wait for a batch, with `_waiting` characters of text; `_texts` is
    the shown text of each block."""

    def __init__(self, conversation: Conversation, cancel: Cancel) -> None:
        self._conversation = conversation
        self._cancel = cancel
        self._id = new_uuid()
        self._batches = 0
        self._held: list[Event] = []
        self._waiting = 0
        self._since = 0.0
        self._texts: dict[int, str] = {}
        self._replaced = False
        self._blocks: list[AssistantBlock] = []

    def take(self, event: Event) -> Iterator[Event]:
        if isinstance(event, AssistantBlock):
            self._blocks.append(event)
            return
        match event:
            case Streamed(event=BlockStarted(kind="tool_use")):
                yield from self._flush(self._waiting, final=True)
            case Streamed(event=TextDelta(text=text)):
                self._since = self._since if self._waiting else time.monotonic()
                self._waiting += len(text)
        self._held.append(event)
        yield from self._flush(self._ready())

    def end(self) -> Iterator[Event]:
        """The rest of the reply, and its whole blocks."""
        yield from self._flush(self._waiting, final=True)
        spoken = [event for event in self._blocks if isinstance(event.block, Text)]
        if spoken and not self._texts:
            yield from self._whole(spoken)
        elif self._replaced:
            for event, shown in zip(spoken, self._texts.values(), strict=False):
                self._conversation.state.displays[event.uuid] = shown
        if self._replaced:
            self._conversation.state.shown = "".join(self._texts.values())
        yield from self._blocks

    def _whole(self, spoken: list[AssistantBlock]) -> Iterator[Event]:
        """A reply that did not stream. Its first text holds the shown text; its other texts become empty."""
        text = "".join(event.block.text for event in spoken if isinstance(event.block, Text))
        shown = yield from self._ask(text, final=True)
        if shown is None:
            return
        for event in spoken:
            self._conversation.state.displays[event.uuid] = ""
        self._conversation.state.displays[spoken[0].uuid] = self._texts[0] = shown
        self._replaced = True

    def _ready(self) -> int:
        """How much of the text that waits may go ahead: whole lines, or whole words of a slow line. A little
        always stays, for the last batch."""
        if not self._waiting:
            return 0
        waited = time.monotonic() - self._since
        if waited < _BATCH_SECONDS:
            return -1
        text = _text_of(self._held)
        end = text.rfind("\n", 0, -1) + 1
        if not end and waited >= _LINE_SECONDS:
            end = text.rfind(" ", 0, -1) + 1
        return end or -1

    def _flush(self, size: int, *, final: bool = False) -> Iterator[Event]:
        """Show the first `size` characters that wait and the events around them; -1 shows nothing."""
        if size < 0:
            return
        batch = self._cut(size)
        text = _text_of(batch)
        shown = (yield from self._ask(text, final)) if text.strip() else None
        self._replaced = self._replaced or shown is not None
        for event in batch:
            match event:
                case Streamed(event=TextDelta() as delta):
                    said = delta.text if shown is None else shown
                    shown = None if shown is None else ""
                    self._texts[delta.index] = self._texts.get(delta.index, "") + said
                    if said:
                        yield Streamed(replace(delta, text=said))
                case Streamed(event=BlockCompleted(block=Text()) as completed):
                    shown_block = replace(completed, block=Text(self._texts.get(completed.index, "")))
                    yield Streamed(shown_block, event.uuid)
                case _:
                    yield event

    def _cut(self, size: int) -> list[Event]:
        """Take the events with the first `size` characters from those that wait. A delta may be parted."""
        batch: list[Event] = []
        self._waiting -= size
        while self._held:
            event = self._held[0]
            if isinstance(event, Streamed) and isinstance(event.event, TextDelta):
                delta = event.event
                if size <= 0:
                    break
                if len(delta.text) > size:
                    batch.append(Streamed(replace(delta, text=delta.text[:size])))
                    self._held[0] = Streamed(replace(delta, text=delta.text[size:]))
                    break
                size -= len(delta.text)
            batch.append(self._held.pop(0))
        self._since = time.monotonic()
        return batch

    def _ask(self, text: str, final: bool) -> Generator[Event, None, str | None]:
        common = self._conversation.hooks.common
        payload = payloads.message_display(
            common, common.prompt_id or self._id, self._id, text, index=self._batches, final=final
        )
        self._batches += 1
        outcome = yield from self._conversation.hooks.fire(payload, self._cancel)
        yield from (Notice("warning", error) for error in outcome.errors)
        return outcome.display_content


def _text_of(events: list[Event]) -> str:
    return "".join(
        event.event.text
        for event in events
        if isinstance(event, Streamed) and isinstance(event.event, TextDelta)
    )


def as_shown(conversation: Conversation, event: Event) -> Event:
    """The event as people and programs get it. The transcript has the original."""
    if not isinstance(event, AssistantBlock) or event.uuid not in conversation.state.displays:
        return event
    return replace(event, block=Text(conversation.state.displays.pop(event.uuid)))


def masked(event: HookFinished, vault: Vault) -> HookFinished:
    """Hooks may print secrets too."""
    mask = vault.masked
    return replace(event, stdout=mask(event.stdout), stderr=mask(event.stderr), output=mask(event.output))
