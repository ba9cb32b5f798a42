"""What a client that lost its connection gets again: its own events, and not without end."""

from __future__ import annotations

import asyncio

from mcp.server.streamable_http import EventMessage
from mcp_types import JSONRPCMessage, JSONRPCNotification

from checkrein.serve.mcp.kept_events import KeptEvents


def said(text: str) -> JSONRPCMessage:
    return JSONRPCNotification(jsonrpc="2.0", method="said", params={"text": text})


def replayed(kept: KeptEvents, after: str) -> list[str]:
    found: list[EventMessage] = []

    async def collect(event: EventMessage) -> None:
        found.append(event)

    asyncio.run(kept.replay_events_after(after, collect))
    return [one.message.params["text"] for one in found]  # type: ignore[union-attr,index]


def test_later_events_of_the_stream_come_again() -> None:
    kept = KeptEvents()

    async def store() -> list[str]:
        rows = [("1", None), ("1", said("a")), ("2", said("b")), ("1", said("c"))]
        return [await kept.store_event(stream, message) for stream, message in rows]

    ids = asyncio.run(store())
    assert replayed(kept, ids[0]) == ["a", "c"]
    assert replayed(kept, ids[1]) == ["c"]
    assert replayed(kept, "unknown") == []


def test_they_are_bounded_in_number_and_in_size() -> None:
    few, small = KeptEvents(most=3), KeptEvents(largest=1_000)

    async def store() -> tuple[list[str], list[str]]:
        return (
            [await few.store_event("1", said(str(number))) for number in range(5)],
            [await small.store_event("1", said("x" * 300)) for _ in range(5)],
        )

    by_number, by_size = asyncio.run(store())
    assert replayed(few, by_number[1]) == []
    assert replayed(few, by_number[2]) == ["3", "4"]
    assert replayed(small, by_size[2]) == []
    assert len(replayed(small, by_size[3])) == 1
