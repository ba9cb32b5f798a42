"""One streamed request: send the body, read server-sent events, hand them to a wire's reader."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
from msgspec import Struct

from checkrein.llm.blocks import Blocks
from checkrein.llm.cancel import Cancel
from checkrein.llm.failures import ModelRequestError
from checkrein.llm.port import ModelEvent
from checkrein.llm.wire import Answer, Wire

if TYPE_CHECKING:
    from checkrein.llm.sse import SseEvent

_REFUSAL_BYTES = 256 * 1024
_REPLY_BYTES = 32 * 1024 * 1024


class Reader(Protocol):
    """The state of one response. `done` becomes true with the wire's last event. When the stream closes
    before that, the caller calls `end`, which may still complete the response."""

    blocks: Blocks
    done: bool

    def read(self, event: SseEvent) -> list[ModelEvent]: ...

    def end(self) -> list[ModelEvent]: ...


class Parser(Protocol):
    """Cuts bytes into events, in any chunks."""

    def feed(self, chunk: bytes) -> Iterator[SseEvent]: ...


class Framing(Struct, frozen=True):
    """How a wire frames its events, where these are not server-sent events."""

    media_type: str
    parser: Callable[[], Parser]


def stream(
    wire: Wire,
    path: str,
    body: bytes,
    reader: Reader,
    cancel: Cancel,
    headers: Mapping[str, str] | None = None,
    secrets: tuple[str, ...] = (),
    framing: Framing | None = None,
) -> Iterator[ModelEvent]:
    """The events of one response, as the port's contract describes them."""
    try:
        with wire.post(path, body, cancel, headers) as answer:
            _accept(answer, secrets, framing)
            yield from _events(answer, reader, framing)
    except ModelRequestError as error:
        error.completed = tuple(reader.blocks.completed)
        raise


def _accept(answer: Answer, secrets: tuple[str, ...], framing: Framing | None) -> None:
    if answer.status != 200:
        body = answer.read(_REFUSAL_BYTES)
        answer.complete = True
        from checkrein.llm.refusal import refusal

        raise refusal(answer.status, body, answer.headers, secrets)
    if answer.media_type != (framing.media_type if framing else "text/event-stream"):
        raise ModelRequestError(
            "model_not_found",
            f"The model endpoint answered {answer.media_type or 'an unnamed type'}, not an event stream.",
            hint="Check that the base URL belongs to a model API.",
            status=200,
        )


def _events(answer: Answer, reader: Reader, framing: Framing | None) -> Iterator[ModelEvent]:
    from checkrein.llm.sse import SseParser, SseTooLargeError

    parser: Parser = framing.parser() if framing else SseParser()
    size = 0
    try:
        for piece in answer.pieces():
            size += len(piece)
            if size > _REPLY_BYTES:
                raise ModelRequestError(
                    "reply_too_large", f"The reply was cut off after {_REPLY_BYTES >> 20} MB."
                )
            for event in parser.feed(piece):
                due = reader.read(event)
                answer.complete = reader.done
                yield from due
                if reader.done:
                    return
        yield from reader.end()
    except SseTooLargeError as error:
        raise ModelRequestError("malformed_stream", f"The model endpoint sent {error}.") from None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError) as error:
        raise ModelRequestError(
            "malformed_stream",
            f"The model endpoint sent an event that can't be read ({type(error).__name__}).",
        ) from error
    if not reader.done:
        raise ModelRequestError("dropped", "The model's answer ended before it was complete.")


def error_event(data: bytes) -> ModelRequestError:
    """The failure that an error event inside a stream means."""
    from checkrein.llm.refusal import refusal

    return refusal(None, data)


def decode_event(event: SseEvent) -> dict[str, Any]:
    """The JSON object of an event; anything else is a malformed stream. Halves of surrogate pairs stay as
    they are: the next event may have the other half."""
    from checkrein.llm.values import loads

    try:
        value = msgspec.json.decode(event.data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        value = loads(event.data)
    if not isinstance(value, dict):
        raise ModelRequestError(
            "malformed_stream", "The model endpoint sent an event that is not a JSON object."
        )
    return value
