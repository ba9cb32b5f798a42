"""A model endpoint that breaks in one way. It speaks all three wires, on bare sockets."""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any, Literal

import msgspec

from checkrein.llm.mock import chat, messages, responses
from checkrein.llm.script import Turn
from checkrein.llm.scripted import plan

Wire = Literal["messages", "chat", "responses"]
WIRES: tuple[Wire, ...] = ("messages", "chat", "responses")
_SIDES: dict[str, Any] = {"messages": messages, "chat": chat, "responses": responses}
_PATHS = {"/messages": "messages", "/chat/completions": "chat", "/responses": "responses"}
CHUNKED = {"content-type": "text/event-stream", "transfer-encoding": "chunked"}
PLAIN = {"content-type": "text/event-stream", "connection": "close"}


class Gone(Exception):  # noqa: N818  the client left
    """The client closed the connection, or the endpoint does."""


class Talk:
    """One request as a fault sees it. `number` counts the requests so far, from 1."""

    def __init__(self, connection: socket.socket, wire: Wire, number: int, closed: threading.Event) -> None:
        self.connection = connection
        self.wire: Wire = wire
        self.number = number
        self._closed = closed

    def send(self, data: bytes) -> None:
        try:
            self.connection.sendall(data)
        except OSError as error:
            raise Gone from error

    def forever(self, data: bytes, pause: float = 0.0) -> None:
        """Send the same bytes until the client leaves."""
        while True:
            self.send(data)
            self.sleep(pause)

    def sleep(self, seconds: float = 3600) -> None:
        """Wait, at most until the client leaves."""
        limit = time.monotonic() + seconds
        while (left := limit - time.monotonic()) > 0:
            self.connection.settimeout(min(left, 0.2))
            try:
                if not self.connection.recv(65536):
                    raise Gone
            except TimeoutError:
                if self._closed.is_set():
                    raise Gone from None
            except OSError as error:
                raise Gone from error
        self.connection.settimeout(30)

    def reset(self) -> None:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        raise Gone

    def head(self, status: int = 200, headers: dict[str, str] | None = None) -> None:
        lines = [f"HTTP/1.1 {status} X", *(f"{k}: {v}" for k, v in (headers or PLAIN).items()), "", ""]
        self.send("\r\n".join(lines).encode())

    def refuse(self, status: int, body: bytes | None = None, **headers: str) -> None:
        said = body if body is not None else json.dumps({"error": {"message": "no"}}).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.head(status, {"content-type": "application/json", "content-length": str(len(said)), **named})
        self.send(said)

    def frames(self, **turn: Any) -> list[bytes]:
        """The events of a good reply on this wire."""
        events = plan(msgspec.convert({"text": "fine", **turn}, Turn), self.number, "m", 100)
        return [frame for frame in _SIDES[self.wire].write_stream(events) if frame]

    def stream(self, frames: Iterable[bytes]) -> None:
        """An answer with these events, until the connection closes."""
        self.head()
        for frame in frames:
            self.send(frame)

    def reply(self, **turn: Any) -> None:
        self.stream(self.frames(**turn))

    def text(self, said: str) -> bytes:
        """One event with a piece of text, as raw JSON text."""
        if self.wire == "messages":
            delta = b'{"type":"text_delta","text":"%b"}' % said.encode()
            return b'data: {"type":"content_block_delta","index":0,"delta":%b}\n\n' % delta
        if self.wire == "chat":
            return b'data: {"id":"c","choices":[{"index":0,"delta":{"content":"%b"}}]}\n\n' % said.encode()
        event = b'{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"%b"}'
        return b"data: " + event % said.encode() + b"\n\n"

    def opened(self) -> list[bytes]:
        """The events before the first text of a reply."""
        frames = self.frames(text="X" * 9)
        cut = next(index for index, frame in enumerate(frames) if b"X" * 9 in frame)
        return frames[:cut]

    def ended(self) -> list[bytes]:
        """The events after the last text of a reply; they do not name the text."""
        frames = self.frames(text="fine")
        cut = next(index for index, frame in enumerate(frames) if b"fine" in frame)
        return frames[cut + 1 :]


Play = Callable[[Talk], None]


class FaultEndpoint:
    def __init__(self, play: Play) -> None:
        self._play = play
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self.requests = 0
        self.problem: Exception | None = None
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def env(self, wire: Wire) -> dict[str, str]:
        base = f"http://127.0.0.1:{self.port}"
        if wire == "messages":
            return {
                "ANTHROPIC_BASE_URL": base,
                "ANTHROPIC_API_KEY": "k",
                "CHECKREIN_MODEL__DEFAULT": "anthropic:m",
            }
        kind = "openai-chat" if wire == "chat" else "openai-responses"
        return {
            "OPENAI_BASE_URL": f"{base}/v1",
            "OPENAI_API_KEY": "k",
            "CHECKREIN_MODEL__DEFAULT": f"{kind}:m",
        }

    def close(self) -> None:
        self._closed.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while not self._closed.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(Gone, OSError):
            connection.settimeout(30)
            if getattr(self._play, "before_request", False):
                self._play(Talk(connection, "messages", 1, self._closed))
                return
            wire = _request(connection)
            with self._lock:
                self.requests += 1
                number = self.requests
            try:
                self._play(Talk(connection, wire, number, self._closed))
            except (Gone, OSError):
                raise
            except Exception as error:
                self.problem = error


def _request(connection: socket.socket) -> Wire:
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65536)
        if not piece:
            raise Gone
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    size = next((int(line.split(":")[1]) for line in lines if line.lower().startswith("content-length:")), 0)
    while len(body) < size:
        body += connection.recv(65536)
    path = lines[0].split(" ")[1]
    found: Any = next(wire for end, wire in _PATHS.items() if path.endswith(end))
    return found  # type: ignore[no-any-return]
