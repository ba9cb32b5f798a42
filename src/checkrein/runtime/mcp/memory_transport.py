"""A transport without a process or a network: a function plays the server. For tests, and as an example of
a `TransportFactory`.

Only the loop's thread imports this module.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

Talk = Callable[[dict[str, Any]], Iterable[dict[str, Any]]]
"""From a message of ours to the messages that the server sends then."""


class MemoryTransport:
    """`say` sends a message that nothing asked for. It needs the loop's thread, as `talk` has it."""

    def __init__(self, talk: Talk) -> None:
        self._talk = talk

    async def __aenter__(self) -> tuple[Any, Any]:
        self._into, read_stream = anyio.create_memory_object_stream[SessionMessage | Exception](1_000)
        write_stream, self._outgoing = anyio.create_memory_object_stream[SessionMessage](0)
        self._pump = asyncio.ensure_future(self._serve())
        return read_stream, write_stream

    async def __aexit__(self, *exception: object) -> None:
        self._pump.cancel()
        self._into.close()
        self._outgoing.close()

    def say(self, message: dict[str, Any]) -> None:
        self._into.send_nowait(SessionMessage(jsonrpc_message_adapter.validate_python(message)))

    async def _serve(self) -> None:
        async for item in self._outgoing:
            heard = item.message.model_dump(by_alias=True, mode="json", exclude_unset=True)
            for answer in self._talk(heard):
                self.say(answer)
