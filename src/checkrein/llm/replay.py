"""Replay a cassette as a Model, offline. A request that differs from the recorded one fails with a diff."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec

from checkrein.llm.cancel import Cancel
from checkrein.llm.cassette import Cassette, Exchange, Plain, Plainer, Rewrites
from checkrein.llm.failures import CredentialRefusedError, ModelRequestError
from checkrein.llm.port import ModelEvent, Request

_DIFF_LINES = 60


class ReplayModel:
    """Each request takes the first unused exchange with the same hash, so parallel requests may come in
    another order. Without `strict`, a request that has changed takes the next exchange."""

    searches = True

    def __init__(self, path: str | Path, rewrites: Rewrites = (), *, strict: bool = True) -> None:
        self.cassette = Cassette.load(path)
        self._path = str(path)
        self._plainer = Plainer(rewrites)
        self._strict = strict
        self._lock = threading.Lock()
        self._left = list(range(len(self.cassette.exchanges)))
        self._decoder = msgspec.json.Decoder(ModelEvent)

    @property
    def name(self) -> str | None:
        """The model that was recorded."""
        named = self.cassette.requests[0].fields.get("model") if self.cassette.requests else None
        return named if isinstance(named, str) else None

    @property
    def finished(self) -> bool:
        """True when requests have taken every exchange."""
        return not self._left

    def stream(self, request: Request, cancel: Cancel) -> Iterator[ModelEvent]:
        exchange = self._take(self._plainer.request(request))
        completed = []
        for raw in exchange.events:
            if cancel.cancelled:
                raise ModelRequestError("cancelled", "The model request was cancelled.")
            event = self._decoder.decode(self._plainer.back(bytes(raw)))
            completed += [event.block] if hasattr(event, "block") else []
            yield event
        if exchange.failure is not None:
            failure = _failure(exchange)
            failure.completed = tuple(completed)
            raise failure

    def _take(self, plain: Plain) -> Exchange:
        with self._lock:
            if not self._left:
                raise ModelRequestError(
                    "replay_drift",
                    f"{self._path} holds {len(self.cassette.exchanges)} exchanges; the session needs more.",
                )
            for place, index in enumerate(self._left):
                if self.cassette.exchanges[index].request.hash == plain.hash:
                    del self._left[place]
                    return self.cassette.exchanges[index]
            if not self._strict:
                return self.cassette.exchanges[self._left.pop(0)]
            index = self._left[0]
        raise ModelRequestError(
            "replay_drift",
            f"{self._path}: request {index + 1} differs from the recorded one.\n"
            + difference(self.cassette.requests[index], plain),
            hint="Record the session again, or undo what changed the request.",
        )


def difference(recorded: Plain, asked: Plain) -> str:
    """The first differences, as a diff of indented JSON."""
    from difflib import unified_diff

    lines = list(unified_diff(_lines(recorded), _lines(asked), "recorded", "asked", lineterm="", n=2))
    if len(lines) > _DIFF_LINES:
        lines = [*lines[:_DIFF_LINES], f"… and {len(lines) - _DIFF_LINES} more lines"]
    return "\n".join(lines)


def _lines(plain: Plain) -> list[str]:
    messages = [msgspec.json.decode(message) for message in plain.messages]
    whole = msgspec.json.encode({"fields": plain.fields, "messages": messages})
    return msgspec.json.format(whole, indent=1).decode().splitlines()


def _failure(exchange: Exchange) -> ModelRequestError:
    stored = exchange.failure
    assert stored is not None
    kind = CredentialRefusedError if stored.kind == "authentication_failed" else ModelRequestError
    return kind(
        stored.kind,  # type: ignore[arg-type]  # a kind that a recording wrote
        stored.message,
        hint=stored.hint,
        status=stored.status,
        retry_after=stored.retry_after,
        limits=stored.limits,
    )
