"""Request bodies whose cost per request does not grow with the conversation.

Each message is encoded once, and its bytes stay for as long as the conversation goes on. A request that
extends the previous one encodes only its new messages.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from checkrein.base.wellformed import encode
from checkrein.llm.content import Message
from checkrein.llm.tool_ids import IdForm, WireIds

_CONVERSATIONS = 8


def encode_json(value: Any) -> bytes:
    """Compact JSON with keys in their given order. The same value always gives the same bytes."""
    return encode(value)


class _Conversation:
    """The messages of one conversation: as they are, as they are sent, and their bytes."""

    def __init__(self, form: IdForm | None) -> None:
        self.ids = WireIds(form) if form is not None else None
        self.entries: list[tuple[Message, Message, bytes]] = []

    def sent(self, message: Message) -> Message:
        return message if self.ids is None else self.ids.message(message)


class MessageBytes:
    """The encoded messages of current conversations, found by the identity of their first message."""

    def __init__(self, encode: Callable[[Message], bytes]) -> None:
        self._encode = encode
        self._lock = threading.Lock()
        self._kept: OrderedDict[int, _Conversation] = OrderedDict()

    def of(self, messages: tuple[Message, ...]) -> list[bytes]:
        """One encoding per message; empty bytes for a message that the wire has no place for."""
        return [data for _, data in self.sent(messages)]

    def sent(self, messages: tuple[Message, ...], form: IdForm | None = None) -> list[tuple[Message, bytes]]:
        """Each message with ids of the wire's form, and its encoding. One of these uses one form."""
        if not messages:
            return []
        with self._lock:
            kept = self._kept.pop(id(messages[0]), None) or _Conversation(form)
            same = 0
            for (known, _, _), message in zip(kept.entries, messages, strict=False):
                if known is not message:
                    break
                same += 1
            if same < len(kept.entries):
                kept = self._again(kept, same, form)
            for message in messages[same:]:
                sent = kept.sent(message)
                kept.entries.append((message, sent, self._encode(sent)))
            self._kept[id(messages[0])] = kept
            if len(self._kept) > _CONVERSATIONS:
                self._kept.popitem(last=False)
            return [(sent, data) for _, sent, data in kept.entries]

    def _again(self, kept: _Conversation, same: int, form: IdForm | None) -> _Conversation:
        """The conversation up to where it still is the same."""
        found = _Conversation(form)
        found.entries = kept.entries[:same]
        for message, _, _ in found.entries:
            found.sent(message)
        return found


def assemble(head: dict[str, Any], name: str, items: list[bytes]) -> bytes:
    """The body `{...head, name: [items]}`. The growing part comes last, so a longer conversation's body
    extends the shorter one's."""
    start = encode_json(head)[:-1] + (b"," if head else b"") + encode_json(name) + b":["
    return start + b",".join(item for item in items if item) + b"]}"
