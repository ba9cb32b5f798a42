"""The last events of each stream, so that a client whose connection broke gets what it missed."""

from __future__ import annotations

from collections import OrderedDict

from mcp.server.streamable_http import EventCallback, EventId, EventMessage, EventStore, StreamId
from mcp_types import JSONRPCMessage

_MOST = 1_000
_LARGEST = 16 << 20


class KeptEvents(EventStore):
    """Of one client: streams have the ids of its requests, and every client counts them from the same
    number. It keeps `most` events with `largest` characters together; an id that is not known replays
    nothing."""

    def __init__(self, most: int = _MOST, largest: int = _LARGEST) -> None:
        self._events: OrderedDict[EventId, tuple[StreamId, JSONRPCMessage | None, int]] = OrderedDict()
        self._most = most
        self._largest = largest
        self._held = 0

    async def store_event(self, stream_id: StreamId, message: JSONRPCMessage | None) -> EventId:
        from checkrein.base.ids import new_uuid

        id = new_uuid()
        size = 0 if message is None else len(message.model_dump_json(by_alias=True, exclude_unset=True))
        self._events[id] = stream_id, message, size
        self._held += size
        while len(self._events) > self._most or self._held > self._largest:
            _, (_, _, freed) = self._events.popitem(last=False)
            self._held -= freed
        return id

    async def replay_events_after(
        self, last_event_id: EventId, send_callback: EventCallback
    ) -> StreamId | None:
        found = self._events.get(last_event_id)
        if found is None:
            return None
        stream, later = found[0], False
        for id, (owner, message, _) in list(self._events.items()):
            if later and owner == stream and message is not None:
                await send_callback(EventMessage(message, id))
            later = later or id == last_event_id
        return stream
