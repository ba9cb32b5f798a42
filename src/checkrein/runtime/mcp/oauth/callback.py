"""The loopback address that the browser comes back to: `http://localhost:PORT/callback`.

It listens on both loopback addresses, because nobody knows which one a browser takes for `localhost`. An
answer to another question (a wrong `state`) changes nothing: any page in the browser can send one.
"""

from __future__ import annotations

import contextlib
import secrets
import socket
import threading
from collections.abc import Callable
from concurrent.futures import Future
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self
from urllib.parse import parse_qs, urlsplit

from msgspec import Struct

from checkrein.base.harmless import one_line
from checkrein.facts.mcp import CALLBACK_PATH
from checkrein.runtime.mcp.connection import ServerFailure

_DONE = "Checkrein has got the answer. You can close this window.\n"
_REFUSED = "The sign-in was refused. Checkrein says more. You can close this window.\n"
_UNKNOWN = "This is not the answer that Checkrein waits for.\n"
_PATIENCE = 10.0
"""Seconds that a connection may take to say what it wants."""
_LONGEST = 300


Page = Callable[[str], tuple[int, str]]
"""From the target of a request to the status and the text of its answer."""


class Answer(Struct, frozen=True, kw_only=True):
    """What the authorization server sent: a code, or why there is none. No `repr` shows the code."""

    code: str = ""
    state: str
    issuer: str | None = None
    error: str | None = None

    def __repr__(self) -> str:
        return f"Answer(error={self.error!r})"


def answer_in(url: str, state: str) -> Answer | None:
    """The answer in an address that a browser ended at. None when it does not belong to `state`."""
    try:
        query = parse_qs(urlsplit(url.strip()).query, max_num_fields=50)
    except ValueError:
        return None
    given = {key: values[0] for key, values in query.items() if len(values) == 1}
    if not secrets.compare_digest(given.get("state", "").encode(), state.encode()):
        return None
    if "error" in given:
        said = ": ".join(filter(None, (given["error"], given.get("error_description"))))
        return Answer(state=state, issuer=given.get("iss"), error=one_line(said[:_LONGEST]))
    if not given.get("code"):
        return None
    return Answer(code=given["code"], state=state, issuer=given.get("iss"))


class Callback:
    """Listens while its block lasts. `expect` gives the future answer to one question."""

    def __init__(self, port: int | None, *, fixed: bool = True) -> None:
        """A port that is not `fixed` is a wish: another one does when somebody has it."""
        self._state = ""
        self._answer: Future[Answer] = Future()
        self._lock = threading.Lock()
        self._servers = _listen(port, fixed, self._page)
        self.port: int = self._servers[0].server_address[1]
        self.address = f"http://localhost:{self.port}{CALLBACK_PATH}"

    def expect(self, state: str) -> Future[Answer]:
        self._state = state
        self._answer = Future()
        return self._answer

    def accept(self, url: str) -> Answer | None:
        """The answer in an address that a browser ended at, None when it belongs to another question."""
        with self._lock:
            answer = answer_in(url, self._state) if self._state else None
            if answer is not None:
                self._state = ""
                if self._answer.set_running_or_notify_cancel():
                    self._answer.set_result(answer)
        return answer

    def _page(self, target: str) -> tuple[int, str]:
        if urlsplit(target).path != CALLBACK_PATH:
            return 404, _UNKNOWN
        answer = self.accept(target)
        if answer is None:
            return 400, _UNKNOWN
        return 200, _REFUSED if answer.error else _DONE

    def __enter__(self) -> Self:
        for server in self._servers:
            threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for server in self._servers:
            server.shutdown()
            server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, host: str, port: int, page: Page) -> None:
        self.page = page
        super().__init__((host, port), _Handler)


class _Server6(_Server):
    address_family = socket.AF_INET6


def _listen(port: int | None, fixed: bool, page: Page) -> list[_Server]:
    try:
        first = _Server("127.0.0.1", port or 0, page)
    except OSError as error:
        if fixed and port:
            raise ServerFailure(
                f"Port {port} for the sign-in is in use ({error.strerror}). Close what listens on it, or "
                f"change `oauth.callbackPort`."
            ) from None
        first = _Server("127.0.0.1", 0, page)
    servers = [first]
    with contextlib.suppress(OSError):  # a machine without IPv6, or the port has another owner there
        servers.append(_Server6("::1", first.server_address[1], page))
    return servers


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = _PATIENCE
    server_version = "Checkrein"
    sys_version = ""

    def do_GET(self) -> None:
        status, text = self.server.page(self.path)
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing: the address holds the code."""
