"""Replies of open models behind an endpoint, as the port wants them.

Servers hand on what such a model writes: thinking between tags, and calls of tools as text when the server
does not know the model's form for them. Here they become thinking and calls.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from checkrein.base.ids import short_id
from checkrein.llm.blocks import Blocks
from checkrein.llm.cancel import Cancel
from checkrein.llm.content import RedactedThinking, Text, Thinking, ToolUse
from checkrein.llm.failures import ModelRequestError
from checkrein.llm.port import (
    BlockCompleted,
    BlockStarted,
    Finished,
    Model,
    ModelEvent,
    Request,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
)
from checkrein.llm.written_calls import may_be_calls, written_calls

_OPEN, _CLOSE = "<think>", "</think>"


class OpenReplies:
    """A model whose replies are put right. `most` is how many calls one text may hold."""

    def __init__(self, model: Model, most: int = 1) -> None:
        self._model = model
        self._most = most

    def __repr__(self) -> str:
        return repr(self._model)

    def stream(self, request: Request, cancel: Cancel) -> Iterator[ModelEvent]:
        rewriter = _Rewriter(tuple(tool.name for tool in request.tools), self._most)
        try:
            for event in self._model.stream(request, cancel):
                yield from rewriter.take(event)
        except ModelRequestError as error:
            yield from rewriter.flushed()
            error.completed = tuple(rewriter.blocks.completed)
            raise

    def close(self) -> None:
        close = getattr(self._model, "close", None)
        if close is not None:
            close()


class _Rewriter:
    """Text that may still become a call, or a tag, is held back; all other text goes on at once."""

    def __init__(self, offered: tuple[str, ...], most: int) -> None:
        self.blocks = Blocks()
        self._offered = offered
        self._most = most
        self._held = ""
        self._thinks: bool | None = None  # None: the reply has not begun
        self._said = False

    def take(self, event: ModelEvent) -> list[ModelEvent]:
        match event:
            case TextDelta(text=text):
                return self._text(text)
            case BlockStarted(kind="text"):
                return []
            case BlockStarted(kind=kind, id=id, name=name):
                released = self._released()
                self._said = self._said or kind == "tool_use"
                return [*released, *self.blocks.open("part", kind, id, name)]
            case ThinkingDelta(text=text) | ToolCallDelta(json=text):
                return self.blocks.add("part", text)
            case BlockCompleted(block=Text()):
                return []
            case BlockCompleted(block=block):
                if isinstance(block, Thinking):
                    self.blocks.sign("part", block.signature)
                elif isinstance(block, RedactedThinking):
                    self.blocks.sign("part", block.data)
                return self.blocks.close("part")
            case Finished():
                return self._finished(event)
        return [event]

    def _text(self, text: str) -> list[ModelEvent]:
        self._held += text
        events: list[ModelEvent] = []
        if self._thinks is None:
            begun = self._held.lstrip()
            if len(begun) < len(_OPEN) and _OPEN.startswith(begun):
                return events
            self._thinks = begun.startswith(_OPEN)
            if self._thinks:
                self._held = begun.removeprefix(_OPEN)
                events += self.blocks.open("thinking", "thinking")
        if self._thinks:
            thought, closed, rest = self._held.partition(_CLOSE)
            if not closed:
                return [*events, *self._think(_kept(thought))]
            self._thinks = False
            self._held = thought
            events += [*self._think(0), *self.blocks.close("thinking")]
            self._held = rest.lstrip()
        if self._offered and not self._said and may_be_calls(self._held):
            return events
        return [*events, *self._say()]

    def _think(self, kept: int) -> list[ModelEvent]:
        """Pass on what is thought, but for the last characters, which may be the begin of the tag."""
        cut = len(self._held) - kept
        thought, self._held = self._held[:cut], self._held[cut:]
        return self.blocks.add("thinking", thought)

    def _say(self) -> list[ModelEvent]:
        if not self._held:
            return []
        self._said = True
        events = [] if self.blocks.is_open("text") else self.blocks.open("text", "text")
        events += self.blocks.add("text", self._held)
        self._held = ""
        return events

    def flushed(self) -> list[ModelEvent]:
        """All that was held back, as what it looks like."""
        if self._thinks:
            return self._think(0)
        return self._say() if self._held.strip() else []

    def _released(self) -> list[ModelEvent]:
        """What was held back; open text and thinking end here."""
        events = self.flushed()
        for kind in ("thinking", "text"):
            if self.blocks.is_open(kind):
                events += self.blocks.close(kind)
        self._thinks = False if self._thinks else self._thinks
        return events

    def _finished(self, event: Finished) -> list[ModelEvent]:
        calls = () if self._said or self._thinks else written_calls(self._held, self._offered)
        if not 0 < len(calls) <= self._most:
            return [*self._released(), event]
        events: list[ModelEvent] = []
        for call in calls:
            events += self.blocks.open("part", "tool_use", short_id("call_"), call.name)
            events += [*self.blocks.add("part", call.arguments), *self.blocks.close("part")]
        called = any(isinstance(block, ToolUse) for block in self.blocks.completed)
        return [*events, replace(event, stop_reason="tool_use") if called else event]


def _kept(text: str) -> int:
    """How many characters at the end of the text may be the begin of the closing tag."""
    return next(
        (count for count in range(min(len(text), len(_CLOSE)), 0, -1) if text.endswith(_CLOSE[:count])), 0
    )
