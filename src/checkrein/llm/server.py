"""A scripted model endpoint on loopback that speaks the Messages, Chat Completions and Responses APIs.

The N-th request takes the N-th turn of the script, on any wire. The server keeps requests as bytes and
parses them only when someone reads them, so a reply costs well under a millisecond.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import msgspec
from msgspec import Struct

from checkrein.base.secrets import REDACTED, is_secret_name
from checkrein.llm.bodies import encode_json
from checkrein.llm.failures import ModelRequestError
from checkrein.llm.http_server import CutError, HttpAnswer, HttpRequest, HttpServer
from checkrein.llm.port import ModelEvent, Request, collect
from checkrein.llm.script import Fault, Script, Turn
from checkrein.llm.scripted import BYTES_PER_TOKEN, as_script, error_body, plan

WireName = Literal["anthropic", "chat", "responses"]
_PATHS: dict[str, WireName] = {
    "/v1/messages": "anthropic",
    "/v1/chat/completions": "chat",
    "/v1/responses": "responses",
}
_COUNT = "/v1/messages/count_tokens"
_MODELS = "/v1/models"
_MODEL = "scripted"


class Asked(Struct, frozen=True):
    """A request as it arrived, at `at` (monotonic seconds). `headers` hide credentials."""

    wire: WireName
    path: str
    headers: dict[str, str]
    body: bytes
    at: float

    @property
    def request(self) -> Request:
        return read_request(self.wire, self.body)


class ScriptedServer:
    """`url` is the base URL for the Messages API; the OpenAI wires live under `url + "/v1"`.

    `requests` are the model requests as they arrived; `failures` say where the session left the script.
    The server calls `notice` with each request, one at a time."""

    def __init__(
        self,
        script: Script | Iterable[Turn | dict[str, Any]] | str | Path,
        *,
        port: int = 0,
        notice: Callable[[Asked], None] | None = None,
    ) -> None:
        self.script = as_script(script)
        self.requests: list[Asked] = []
        self.failures: list[str] = []
        self._notice = notice
        self._lock = threading.Lock()
        self._http = HttpServer(self._answer, port=port)
        self.url = self._http.url

    @property
    def connections(self) -> int:
        """The number of connections so far."""
        return self._http.connections

    def drop_connections(self) -> None:
        """Close the open connections, as a server that restarts does."""
        self._http.drop_connections()

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> ScriptedServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _answer(self, http: HttpRequest) -> HttpAnswer:
        at = time.monotonic()
        wire = _PATHS.get(http.path)
        if http.method == "POST" and wire is not None:
            headers = {name: REDACTED if _secret(name) else value for name, value in http.headers.items()}
            asked = Asked(wire, http.path, headers, http.body, at)
            with self._lock:
                self.requests.append(asked)
                if self._notice is not None:
                    self._notice(asked)
            return self._reply(asked)
        if http.method == "POST" and http.path == _COUNT:
            return _json(200, {"input_tokens": max(1, len(http.body) // BYTES_PER_TOKEN)})
        if http.method in ("GET", "HEAD") and http.path in (_MODELS, f"{_MODELS}/{_MODEL}"):
            row = {"id": _MODEL, "object": "model"}
            return _json(200, {"object": "list", "data": [row]} if http.path == _MODELS else row)
        return _no_path(http)

    def _reply(self, asked: Asked) -> HttpAnswer:
        try:
            asks = msgspec.json.decode(asked.body, type=_Asks)
            number, turn = self.script.take(cache(lambda: asked.request))
        except (ModelRequestError, msgspec.DecodeError, ValueError, KeyError, TypeError) as error:
            message = error.message if isinstance(error, ModelRequestError) else f"not a request: {error}"
            self.failures.append(message)
            return _json(
                400, {"type": "error", "error": {"type": "invalid_request_error", "message": message}}
            )
        fault = turn.fault
        if fault is not None and fault.status is not None:
            self._http.pause(turn.delay)
            extra = {} if fault.retry_after is None else {"retry-after": f"{fault.retry_after:g}"}
            return HttpAnswer(fault.status, "application/json", (error_body(fault),), extra)
        events = plan(turn, number, asks.model, len(asked.body))
        side = _mock_side(asked.wire)
        if not asks.stream:
            self._http.pause(turn.delay)
            return HttpAnswer(200, "application/json", (side.write_whole(collect(events)),))
        content_type = (
            fault.content_type if fault and fault.content_type else "text/event-stream; charset=utf-8"
        )
        self._http.pause(turn.delay)
        return HttpAnswer(200, content_type, self._pieces(turn, side, events), whole=False)

    def _pieces(self, turn: Turn, side: ModuleType, events: list[ModelEvent]) -> Iterator[bytes]:
        frames: list[bytes] = [frame for frame in side.write_stream(events) if frame]
        if turn.fault is None and not turn.pace:
            yield b"".join(frames)
            return
        for count, frame in enumerate(frames):
            if turn.fault is not None and count == turn.fault.after:
                yield from self._faulty(turn.fault, side)
            self._http.pause(turn.pace if count else 0.0)
            yield frame

    def _faulty(self, fault: Fault, side: ModuleType) -> Iterator[bytes]:
        if fault.malformed:
            yield b"data: {not json\n\n"
        elif fault.oversized is not None:
            yield b"data: " + b" " * fault.oversized + b"{}\n\n"
        elif fault.error is not None:
            yield side.write_error(error_body(fault))
        elif fault.silent is not None:
            self._http.pause(fault.silent)
        elif fault.cut:
            raise CutError


class _Asks(Struct):
    model: str
    stream: bool = False


def _mock_side(wire: WireName) -> ModuleType:
    """The module that speaks a wire from the endpoint's side."""
    if wire == "anthropic":
        from checkrein.llm.mock import messages

        return messages
    if wire == "chat":
        from checkrein.llm.mock import chat

        return chat
    from checkrein.llm.mock import responses

    return responses


def read_request(wire: WireName, body: bytes) -> Request:
    """The Request in a body on this wire."""
    request: Request = _mock_side(wire).read_request(msgspec.json.decode(body, type=dict[str, Any]))
    return request


def _no_path(http: HttpRequest) -> HttpAnswer:
    """What real servers say about a path or a method that they do not have."""
    known = http.path in (*_PATHS, _COUNT, _MODELS)
    status, kind = (405, "invalid_request_error") if known else (404, "not_found_error")
    near = next((path for path in (*_PATHS, _COUNT, _MODELS) if http.path.endswith(path[3:])), None)
    hint = f" The path is {near}: check the base URL." if near and not known else ""
    message = f"{http.method} {http.path} is not part of this API.{hint}"
    return _json(status, {"type": "error", "error": {"type": kind, "message": message}})


def _secret(name: str) -> bool:
    return name == "x-api-key" or is_secret_name(name)


def _json(status: int, value: Any) -> HttpAnswer:
    return HttpAnswer(status, "application/json", (encode_json(value),))
