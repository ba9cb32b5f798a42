"""The last events of each stream, so that a client whose connection broke gets what it missed."""

from __future__ import annotations

from collections import OrderedDict

from mcp.server.streamable_http import EventCallback, EventId, EventMessage, EventStore, StreamId
from mcp_types import JSONRPCMessage

_MOST = 10_000


class KeptEvents(EventStore):
    """Of all clients together. Ids can't be guessed from others: one that is not known replays nothing."""

    def __init__(self, most: int = _MOST) -> None:
        self._events: OrderedDict[EventId, tuple[StreamId, JSONRPCMessage | None]] = OrderedDict()
        self._most = most

    async def store_event(self, stream_id: StreamId, message: JSONRPCMessage | None) -> EventId:
        from checkrein.base.ids import new_uuid

        id = new_uuid()
        self._events[id] = stream_id, message
        while len(self._events) > self._most:
            self._events.popitem(last=False)
        return id

    async def replay_events_after(
        self, last_event_id: EventId, send_callback: EventCallback
    ) -> StreamId | None:
        found = self._events.get(last_event_id)
        if found is None:
            return None
        stream, later = found[0], False
        for id, (owner, message) in list(self._events.items()):
            if later and owner == stream and message is not None:
                await send_callback(EventMessage(message, id))
            later = later or id == last_event_id
        return stream
