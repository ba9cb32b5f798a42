"""A small HTTP/1.1 server for loopback: a thread per connection, keep-alive, answers in pieces.

The standard library's server takes longer for one request's headers than a scripted reply may take.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from io import BufferedReader

from msgspec import Struct

_HEAD_LIMIT = 64 * 1024
_REASONS = {
    200: "OK",
    400: "Bad Request",
    404: "Not Found",
    405: "Method Not Allowed",
    429: "Too Many Requests",
    500: "Internal Server Error",
}


class HttpRequest(Struct, frozen=True):
    """Header names are in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    query: str = ""


class HttpAnswer(Struct, frozen=True):
    """The server sends `pieces` as they come; an exception from them closes the connection in the middle.
    With `whole`, they are one body of known length."""

    status: int
    content_type: str
    pieces: Iterable[bytes]
    headers: dict[str, str] = {}
    whole: bool = True


class CutError(Exception):
    """`pieces` raise this to close the connection before the answer ends."""


class HttpServer:
    """Listens as soon as it exists. `url` is its address, `connections` the number it accepted."""

    def __init__(self, answer: Callable[[HttpRequest], HttpAnswer], *, port: int = 0) -> None:
        self._answer = answer
        self._listener = socket.create_server(("127.0.0.1", port))
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self.connections = 0
        self.port: int = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._accept, name="checkrein-http", daemon=True)
        self._thread.start()

    def pause(self, seconds: float) -> None:
        """Sleep. When the server closes, end early and cut the connection."""
        if seconds > 0 and self._closed.wait(seconds):
            raise CutError

    def close(self) -> None:
        self._closed.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.drop_connections()
        self._thread.join(5)

    def drop_connections(self) -> None:
        """Close the open connections; the server keeps listening."""
        with self._lock:
            connections = list(self._open)
        for connection in connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        while not self._closed.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                self._open.add(connection)
                self.connections += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with contextlib.suppress(OSError, CutError), connection.makefile("rb") as stream:
            try:
                while (request := _read(stream, connection)) is not None:
                    _write(connection, self._answer(request))
            except ValueError:
                _write(connection, HttpAnswer(400, "text/plain", (b"not HTTP\n",)))
        with self._lock:
            self._open.discard(connection)
        connection.close()


def _read(stream: BufferedReader, connection: socket.socket) -> HttpRequest | None:
    """The next request; None when the client is done. Raises ValueError when the text is not HTTP."""
    if stream.peek(1)[:1] == b"\x16":
        raise ValueError("TLS")
    line = stream.readline(_HEAD_LIMIT)
    if not line.strip():
        return None
    method, target, _ = line.decode("latin-1").split(" ", 2)
    headers: dict[str, str] = {}
    size = len(line)
    while (line := stream.readline(_HEAD_LIMIT)) not in (b"\r\n", b"\n"):
        size += len(line)
        if not line or size > _HEAD_LIMIT:
            raise ValueError("headers")
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.strip().lower()] = value.strip()
    if headers.get("expect", "").lower() == "100-continue":
        connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
    if headers.get("transfer-encoding", "").lower() == "chunked":
        body = b"".join(_chunks(stream))
    else:
        body = stream.read(int(headers.get("content-length", "0")))
    path, _, query = target.partition("?")
    return HttpRequest(method, path, headers, body, query)


def _chunks(stream: BufferedReader) -> Iterator[bytes]:
    while length := int(stream.readline(_HEAD_LIMIT).partition(b";")[0], 16):
        yield stream.read(length)
        stream.readline(_HEAD_LIMIT)
    while stream.readline(_HEAD_LIMIT) not in (b"\r\n", b"\n", b""):
        pass


def _write(connection: socket.socket, answer: HttpAnswer) -> None:
    reason = _REASONS.get(answer.status, "Answer")
    head = [f"HTTP/1.1 {answer.status} {reason}", f"content-type: {answer.content_type}"]
    head += [f"{name}: {value}" for name, value in answer.headers.items()]
    if answer.whole:
        body = b"".join(answer.pieces)
        head.append(f"content-length: {len(body)}")
        connection.sendall("\r\n".join((*head, "", "")).encode() + body)
        return
    head.append("transfer-encoding: chunked")
    waiting = "\r\n".join((*head, "", "")).encode()
    for piece in answer.pieces:
        if piece:
            waiting += b"%x\r\n%b\r\n" % (len(piece), piece)
        connection.sendall(waiting)
        waiting = b""
    connection.sendall(waiting + b"0\r\n\r\n")
