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

_CONVERSATIONS = 8


def encode_json(value: Any) -> bytes:
    """Compact JSON with keys in their given order. The same value always gives the same bytes."""
    return encode(value)


class MessageBytes:
    """The encoded messages of current conversations, found by the identity of their first message."""

    def __init__(self, encode: Callable[[Message], bytes]) -> None:
        self._encode = encode
        self._lock = threading.Lock()
        self._kept: OrderedDict[int, list[tuple[Message, bytes]]] = OrderedDict()

    def of(self, messages: tuple[Message, ...]) -> list[bytes]:
        """One encoding per message; empty bytes for a message that the wire has no place for."""
        if not messages:
            return []
        with self._lock:
            kept = self._kept.pop(id(messages[0]), None) or []
            same = 0
            for (known, _), message in zip(kept, messages, strict=False):
                if known is not message:
                    break
                same += 1
            del kept[same:]
            kept.extend((message, self._encode(message)) for message in messages[same:])
            self._kept[id(messages[0])] = kept
            if len(self._kept) > _CONVERSATIONS:
                self._kept.popitem(last=False)
            return [data for _, data in kept]


def assemble(head: dict[str, Any], name: str, items: list[bytes]) -> bytes:
    """The body `{...head, name: [items]}`. The growing part comes last, so a longer conversation's body
    extends the shorter one's."""
    start = encode_json(head)[:-1] + (b"," if head else b"") + encode_json(name) + b":["
    return start + b",".join(item for item in items if item) + b"]}"
