"""HTTP to a model endpoint: one POST, an answer in pieces, connections that stay open.

Standard `http.client` on the caller's thread; `Cancel` shuts the socket down from another one, whether it is
connecting, waiting or reading. docs/decisions/0003-model-wire.md says why.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping

from checkrein.llm.cancel import Cancel
from checkrein.llm.connection import Connection, Endpoint, Phase, Timeouts, explain
from checkrein.llm.failures import ModelRequestError
from checkrein.llm.proxy import proxy_for

_KEPT = 8
_KEPT_SECONDS = 60.0
_END_SECONDS = 0.25
_PIECE = 65536


class Answer:
    """Status, headers (lower-case names) and the body in pieces. Set `complete` when you need nothing more:
    only then does the connection stay open."""

    def __init__(
        self,
        response: http.client.HTTPResponse,
        connection: Connection,
        fail: Callable[[Exception], ModelRequestError],
        cancel: Cancel,
    ) -> None:
        self.complete = False
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self._response, self._connection, self._failure, self._cancel = response, connection, fail, cancel
        self._ended = False

    @property
    def media_type(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    def pieces(self) -> Iterator[bytes]:
        """The body as it arrives. Raises `dropped`, `idle_timeout` or `cancelled`."""
        while not self._ended:
            try:
                piece = self._response.read1(_PIECE)
            except (OSError, http.client.HTTPException, ValueError) as error:
                raise self._failure(error) from None
            if not piece:
                self._ended = True
                if self._cancel.cancelled:
                    raise self._failure(ConnectionAbortedError())
                return
            yield piece

    def read(self, limit: int) -> bytes:
        """The body up to `limit` bytes, without what can't be read."""
        data = bytearray()
        with contextlib.suppress(ModelRequestError):
            for piece in self.pieces():
                data += piece
                if len(data) > limit:
                    break
        return bytes(data[:limit])

    def reached_end(self) -> bool:
        """Read the few bytes after the last useful ones that close the body. True if it is closed."""
        if self._ended:
            return True
        self._connection.wait_at_most(_END_SECONDS)
        with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
            self._ended = not self._response.read1(_PIECE)
        return self._ended


class Wire:
    """Connections to one endpoint. Thread-safe. `headers` (with the credential) go with every request and
    appear nowhere else."""

    def __init__(
        self,
        base_url: str,
        headers: Mapping[str, str],
        *,
        timeouts: Timeouts | None = None,
        env: Mapping[str, str] | None = None,
        start: str | None = None,
    ) -> None:
        self.endpoint = Endpoint.parse(base_url, start)
        self.timeouts = timeouts or Timeouts()
        self._headers = {"accept": "text/event-stream", "content-type": "application/json", **headers}
        endpoint = self.endpoint
        environment = os.environ if env is None else env
        self._proxy = proxy_for(endpoint.scheme, endpoint.host, endpoint.port, environment)
        self._lock = threading.Lock()
        self._kept: list[Connection] = []
        self._tls: ssl.SSLContext | None = None

    def __repr__(self) -> str:
        return f"Wire({self.endpoint})"

    @contextlib.contextmanager
    def post(
        self, path: str, body: bytes, cancel: Cancel, headers: Mapping[str, str] | None = None
    ) -> Iterator[Answer]:
        """Send a request; yields its answer."""
        target = self.endpoint.path + path
        if self._proxy and self.endpoint.scheme == "http":
            target = f"http://{self.endpoint.host}:{self.endpoint.port}{target}"
        sent = {**self._headers, **(headers or {})}
        if self._proxy and self._proxy.authorization and self.endpoint.scheme == "http":
            sent["proxy-authorization"] = self._proxy.authorization
        connection = self._take()
        kept = connection is not None
        while True:
            connection = connection or Connection(self.endpoint, self._proxy, self.timeouts, self._context)
            with cancel.on_cancel(connection.abort):
                try:
                    response = self._exchange(connection, target, body, sent, cancel)
                except (ConnectionError, http.client.RemoteDisconnected) as error:
                    connection.close()
                    if kept and not cancel.cancelled:
                        connection, kept = None, False  # the kept connection had gone stale
                        continue
                    raise self._explain(error, "answer", cancel) from None
                answer = Answer(
                    response, connection, lambda error: self._explain(error, "body", cancel), cancel
                )
                try:
                    yield answer
                finally:
                    self._give_back(connection, answer, response, cancel)
                return

    def _exchange(
        self, connection: Connection, target: str, body: bytes, headers: dict[str, str], cancel: Cancel
    ) -> http.client.HTTPResponse:
        phase: Phase = "connect"
        try:
            if connection.sock is None:
                connection.connect()
            phase = "answer"
            connection.wait_at_most(self.timeouts.answer)
            with contextlib.suppress(BrokenPipeError):  # refused early: the answer may still be there
                connection.request("POST", target, body, headers)
            response = connection.getresponse()
            connection.wait_at_most(self.timeouts.idle)
        except BaseException as error:
            if phase == "answer" and isinstance(error, ConnectionError):
                raise
            connection.close()
            if isinstance(error, OSError | http.client.HTTPException | ValueError):
                raise self._explain(error, phase, cancel) from None
            raise
        return response

    def _context(self) -> ssl.SSLContext:
        """The first TLS connection makes it: reading the system's certificates takes a while."""
        if self._tls is None:
            self._tls = ssl.create_default_context()
        return self._tls

    def _explain(self, error: Exception, phase: Phase, cancel: Cancel) -> ModelRequestError:
        return explain(
            error, phase, self.endpoint, self.timeouts, proxy=self._proxy, cancelled=cancel.cancelled
        )

    def _take(self) -> Connection | None:
        with self._lock:
            while self._kept:
                connection = self._kept.pop()
                if time.monotonic() - connection.used < _KEPT_SECONDS:
                    return connection
                connection.close()
        return None

    def _give_back(
        self, connection: Connection, answer: Answer, response: http.client.HTTPResponse, cancel: Cancel
    ) -> None:
        reusable = answer.complete and not cancel.cancelled and answer.reached_end()
        response.close()
        if reusable and not response.will_close:
            connection.used = time.monotonic()
            with self._lock:
                if len(self._kept) < _KEPT:
                    self._kept.append(connection)
                    return
        connection.close()

    def close(self) -> None:
        with self._lock:
            while self._kept:
                self._kept.pop().close()
