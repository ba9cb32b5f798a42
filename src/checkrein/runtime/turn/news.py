"""What happened outside the conversation: a changed directory, changed files, changed instructions, output of
async hooks, the end of work in the background.

The turn looks before each prompt and after each round of tool calls, so that hooks get the events and the
next request tells the model.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable
from typing import TYPE_CHECKING

from checkrein.llm.port import Cancel
from checkrein.runtime.hooks import payloads
from checkrein.runtime.session.events import Event, Notice
from checkrein.runtime.session.wakes import Wake

if TYPE_CHECKING:
    from checkrein.runtime.session.conversation import Conversation


def notice(conversation: Conversation, cancel: Cancel) -> Generator[Event, None, bool]:
    """Fire the hooks that are due, pass on async output. True when an async hook wants the model to go on."""
    yield from _moved(conversation, cancel)
    yield from _changed(conversation, cancel)
    yield from _instructed(conversation)
    return (yield from _heard(conversation))


def take_notes(conversation: Conversation) -> Generator[Event, None, None]:
    """Tell the model what came from outside: tasks and commands that have ended, messages. A reply that the
    service paused goes back as it is; the news waits."""
    wakes, messages = conversation.control.wakes, conversation.state.messages
    yield from wakes.heard()
    if messages and messages[-1].role == "assistant":
        return
    for wake in wakes.notes():
        yield from noted(conversation, wake)


def noted(conversation: Conversation, wake: Wake) -> Generator[Event, None, None]:
    if wake.event is not None:
        yield wake.event
    yield from conversation.note(wake.text, wake.source)
    wake.taken()


def watch(conversation: Conversation, paths: Iterable[str] = ()) -> None:
    """Watch the files in the matchers of FileChanged hooks, and `paths`."""
    hooks = conversation.hooks
    if not hooks.has("FileChanged"):
        return
    cwd = conversation.host.cwd
    names = (name.strip() for text in hooks.registry.matchers("FileChanged") for name in text.split("|"))
    conversation.backdrop.files.add(os.path.join(cwd, name) for name in names if name and "/" not in name)
    conversation.backdrop.files.add(os.path.join(cwd, os.path.expanduser(path)) for path in paths)


def _moved(conversation: Conversation, cancel: Cancel) -> Generator[Event, None, None]:
    old, new = conversation.hooks.common.cwd, conversation.host.cwd
    if new == old:
        return
    conversation.hooks.update(cwd=new)
    payload = payloads.cwd_changed(conversation.hooks.common, old, new)
    outcome = yield from conversation.hooks.fire(payload, cancel)
    watch(conversation, outcome.watch_paths)


def _changed(conversation: Conversation, cancel: Cancel) -> Generator[Event, None, None]:
    for path, change in conversation.backdrop.files.changes():
        payload = payloads.file_changed(conversation.hooks.common, path, change)
        outcome = yield from conversation.hooks.fire(payload, cancel)
        watch(conversation, outcome.watch_paths)


def _instructed(conversation: Conversation) -> Generator[Event, None, None]:
    """Tell the model what changed instruction files say now."""
    watch = conversation.backdrop.instructions
    if watch is None or not conversation.state.messages:
        return
    for text in watch.news(conversation.state.messages):
        yield from conversation.note(text, "instruction")


def _heard(conversation: Conversation) -> Generator[Event, None, bool]:
    news = conversation.hooks.news()
    yield from news.events
    for context in news.additional_context:
        yield from conversation.note(context.text, "hook:async", context.origin)
    for message in news.system_messages:
        yield Notice("info", message)
    return news.wake
