"""Puts a prompt into the conversation: hooks and expansion first, then reminders, then the prompt."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import TYPE_CHECKING

from checkrein.base.ids import new_uuid
from checkrein.llm.port import Block, Cancel, Message, Text, user
from checkrein.runtime.context.reminders import reminder
from checkrein.runtime.session.events import ContextAdded, Event, Notice, PromptAccepted
from checkrein.runtime.session.rewind import begin
from checkrein.runtime.turn.compactor import compact
from checkrein.runtime.turn.input import prepare
from checkrein.runtime.turn.prompt_outcome import Prompted

if TYPE_CHECKING:
    from checkrein.runtime.session.conversation import Conversation


def accept(
    conversation: Conversation,
    prompt: str | Sequence[Block],
    uuid: str,
    cancel: Cancel,
    author: str = "",
    *,
    verbatim: bool = False,
) -> Generator[Event, None, Prompted]:
    """Put a prompt into the conversation. A prompt that a hook refuses, or that asks for a compaction, stays
    out; the returned value says so. `author` is who wrote it, if not the user. A `verbatim` prompt names no
    command and no file."""
    conversation.hooks.update(prompt_id=uuid)
    prompted = yield from prepare(conversation, prompt, cancel, author, verbatim=verbatim)
    if (
        prompted.unknown is not None
        or prompted.refused is not None
        or prompted.answer is not None
        or prompted.compact is not None
    ):
        return prompted
    if conversation.link is None:
        begin(conversation, uuid)
    yield from _say_before(conversation, prompted.before)
    message = Message("user", prompted.blocks)
    conversation.state.append(message)
    yield PromptAccepted(uuid, message)
    for one in prompted.files:
        if one.contents is not None:
            conversation.recorder.attached(one.path, one.contents)
    return prompted


def take_sent(conversation: Conversation, cancel: Cancel) -> Generator[Event, None, None]:
    """Take the messages sent to the running turn, each as its own prompt. See `Control.send`."""
    while not cancel.cancelled and (message := conversation.control.take_message()) is not None:
        prompted = yield from accept(conversation, message, new_uuid(), cancel)
        problem = prompted.refused or prompted.unknown
        if problem is not None:
            yield Notice("warning", problem)
        elif prompted.answer is not None:
            yield Notice("info", prompted.answer)
        elif prompted.compact is not None:
            yield from compact(conversation, cancel, "manual", prompted.compact)


def _say_before(conversation: Conversation, added: Sequence[str]) -> Iterator[Event]:
    """Add the reminders before a prompt: the opening ones once, then those of hooks and mentions."""
    if not conversation.state.messages:
        first = conversation.backdrop.prompt.first_message()
        if first.content:
            conversation.state.append(first)
            conversation.recorder.reminders(first)
    for text in (*conversation.backdrop.opening_context, *added):
        wrapped = reminder(text)
        conversation.state.append(user(Text(wrapped)))
        yield ContextAdded(new_uuid(), wrapped, "hook")
    conversation.backdrop.opening_context = []
