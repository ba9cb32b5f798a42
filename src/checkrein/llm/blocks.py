"""From a wire's pieces to whole blocks, one after the other, even when the wire interleaves them."""

from __future__ import annotations

from collections import deque
from typing import Literal

from checkrein.base.wellformed import scrubbed
from checkrein.llm.content import RedactedThinking, Text, Thinking, ToolUse
from checkrein.llm.port import (
    BlockCompleted,
    BlockStarted,
    ModelEvent,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
)
from checkrein.llm.values import depth, loads

_MOST_BLOCKS = 4096
_LONGEST_ARGUMENTS = 2 * 1024 * 1024
_DEEPEST = 100
Kind = Literal["text", "thinking", "redacted_thinking", "tool_use"]


class _Slot:
    __slots__ = ("closed", "id", "key", "kind", "name", "parts", "sent", "signature", "started")

    def __init__(self, key: object, kind: Kind, id: str, name: str) -> None:
        self.key, self.kind, self.id, self.name = key, kind, id, name
        self.parts: list[str] = []
        self.sent = 0
        self.signature = ""
        self.started = self.closed = False


class Blocks:
    """Emits blocks in the order in which they opened. While one is open, it holds back what arrives for
    later ones. Every method returns the events that are due. ValueError when a reply has too many blocks."""

    def __init__(self) -> None:
        self._slots: deque[_Slot] = deque()
        self._open: dict[object, list[_Slot]] = {}
        self._index = 0
        self.completed: list[Text | Thinking | RedactedThinking | ToolUse] = []

    def open(self, key: object, kind: Kind, id: str = "", name: str = "") -> list[ModelEvent]:
        if self._index + len(self._slots) >= _MOST_BLOCKS:
            raise ValueError("too many blocks")
        slot = _Slot(key, kind, id, name)
        self._slots.append(slot)
        self._open.setdefault(key, []).append(slot)
        return self._due()

    def is_open(self, key: object) -> bool:
        return bool(self._open.get(key))

    def add(self, key: object, text: str) -> list[ModelEvent]:
        """Add text, thinking, or JSON text of a tool call's arguments. KeyError when no block is open."""
        if text:
            self._slot(key).parts.append(text)
        return self._due()

    def sign(self, key: object, signature: str) -> None:
        self._slot(key).signature += signature

    def is_empty(self, key: object) -> bool:
        return not self._slot(key).parts

    def has_whole_arguments(self, key: object) -> bool:
        """True when an open tool call's arguments already form a JSON object."""
        return isinstance(_decode("".join(self._slot(key).parts)), dict)

    def close(self, key: object) -> list[ModelEvent]:
        self._slot(key).closed = True
        del self._open[key][0]
        return self._due()

    def close_all(self) -> list[ModelEvent]:
        for slot in self._slots:
            slot.closed = True
        self._open.clear()
        return self._due()

    def _slot(self, key: object) -> _Slot:
        opened = self._open.get(key)
        if not opened:
            raise KeyError(key)
        return opened[0]

    def _due(self) -> list[ModelEvent]:
        events: list[ModelEvent] = []
        while self._slots:
            slot = self._slots[0]
            if not slot.started:
                slot.started = True
                events.append(BlockStarted(self._index, slot.kind, slot.id, slot.name))
            for part in slot.parts[slot.sent :]:
                events.append(_delta(self._index, slot.kind, part))
            slot.sent = len(slot.parts)
            if not slot.closed:
                break
            block = _whole(slot)
            self.completed.append(block)
            events.append(BlockCompleted(self._index, block))
            self._index += 1
            self._slots.popleft()
        return events


def _delta(index: int, kind: Kind, part: str) -> ModelEvent:
    if kind == "text":
        return TextDelta(index, part)
    return ToolCallDelta(index, part) if kind == "tool_use" else ThinkingDelta(index, part)


def _whole(slot: _Slot) -> Text | Thinking | RedactedThinking | ToolUse:
    text = "".join(slot.parts)
    slot.parts.clear()
    if not text.isascii():
        text = scrubbed(text)
    if slot.kind == "text":
        return Text(text)
    if slot.kind == "thinking":
        return Thinking(text, slot.signature)
    if slot.kind == "redacted_thinking":
        return RedactedThinking(slot.signature)
    value = _decode(text) if text.strip() else {}
    if isinstance(value, dict):
        return ToolUse(slot.id, slot.name, value)
    return ToolUse(slot.id, slot.name, {}, broken=text)


def _decode(text: str) -> object:
    """The value of JSON text; None when it is not JSON, too large, or nested too deeply for a tool."""
    if len(text) > _LONGEST_ARGUMENTS:
        return None
    value = loads(text)
    return value if depth(value, _DEEPEST) <= _DEEPEST else None
