"""Ids of tool calls: distinct in a conversation, and valid on the wire they go to.

A service may give a call no id, or one that it gave before; `DistinctCalls` gives such a call its own. What
one wire accepts another refuses, and a session may change its provider; `WireIds` gives each call an id that
its wire takes, the same in every request, and each result the id of its call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from msgspec import Struct
from msgspec.structs import replace

from checkrein.base.ids import short_id
from checkrein.llm.content import Block, Message, ToolResult, ToolUse
from checkrein.llm.port import BlockCompleted, BlockStarted, Cancel, Model, ModelEvent, Request


class IdForm(Struct, frozen=True):
    """The ids that a wire accepts: at most `longest` characters of `characters` (a regular expression)."""

    longest: int
    characters: str

    def fits(self, id: str) -> bool:
        return len(id) <= self.longest and _pattern(self.characters).fullmatch(id) is not None


@cache
def _pattern(characters: str) -> re.Pattern[str]:
    return re.compile(f"{characters}+")


MESSAGES = IdForm(64, "[A-Za-z0-9_-]")
RESPONSES = IdForm(64, "[A-Za-z0-9_-]")
CHAT = IdForm(40, "[!-~]")
"""Servers of this API use dots and colons in their own ids, and some templates need them back."""


class WireIds:
    """The ids of one conversation on one wire. Takes its messages in order, from the first one on."""

    def __init__(self, form: IdForm) -> None:
        self._form = form
        self._taken: set[str] = set()
        self._sent: dict[str, str] = {}
        self._open: list[tuple[str, str]] = []

    def message(self, message: Message) -> Message:
        """The message with ids for the wire; itself where they fit."""
        if not any(isinstance(block, ToolUse | ToolResult) for block in message.content):
            return message
        if message.role == "assistant":
            self._open = []
        content = tuple(self._block(block) for block in message.content)
        same = all(new is old for new, old in zip(content, message.content, strict=True))
        return message if same else Message(message.role, content)

    def _block(self, block: Block) -> Block:
        if isinstance(block, ToolUse):
            sent = self._call(block.id)
            return block if sent == block.id else replace(block, id=sent)
        if isinstance(block, ToolResult):
            sent = self._result(block.tool_use_id)
            return block if sent == block.tool_use_id else replace(block, tool_use_id=sent)
        return block

    def _call(self, id: str) -> str:
        sent = id if self._form.fits(id) else _made(id)
        again = 1
        while sent in self._taken:
            again += 1
            sent = _made(f"{id}\0{again}")
        self._taken.add(sent)
        self._sent[id] = sent
        self._open.append((id, sent))
        return sent

    def _result(self, id: str) -> str:
        """The id of the oldest call of this name that has no result yet, else of the newest one."""
        for place, (called, sent) in enumerate(self._open):
            if called == id:
                del self._open[place]
                return sent
        return self._sent.get(id) or (id if self._form.fits(id) else _made(id))


def _made(id: str) -> str:
    """An id that every wire takes. The same text always gives the same id."""
    from hashlib import blake2b

    return f"call_{blake2b(id.encode('utf-8', 'surrogatepass'), digest_size=12).hexdigest()}"


class DistinctCalls:
    """A model whose calls all have ids of their own. `called` holds the ids of the session's calls so far,
    also of those that are no longer in its requests; it gets the new ones."""

    def __init__(self, model: Model, called: set[str]) -> None:
        self._model = model
        self._called = called

    def stream(self, request: Request, cancel: Cancel) -> Iterator[ModelEvent]:
        called, renamed = self._called, dict[int, str]()
        called.update(_used(request))
        for event in self._model.stream(request, cancel):
            if isinstance(event, BlockStarted) and event.kind == "tool_use":
                if not event.id or event.id in called:
                    renamed[event.index] = short_id("call_")
                    event = replace(event, id=renamed[event.index])
                called.add(event.id)
            elif isinstance(event, BlockCompleted) and event.index in renamed:
                assert isinstance(event.block, ToolUse)
                event = replace(event, block=replace(event.block, id=renamed[event.index]))
            yield event


def _used(request: Request) -> Iterator[str]:
    return (
        block.id for message in request.messages for block in message.content if isinstance(block, ToolUse)
    )
