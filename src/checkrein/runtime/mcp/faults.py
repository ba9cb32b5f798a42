"""What went wrong between us and a server, as one value, and as the failure that a caller gets.

Only the loop's thread imports this module.
"""

from __future__ import annotations

import os

import httpx2
import msgspec
from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED, INVALID_REQUEST, REQUEST_TIMEOUT
from msgspec import Struct
from pydantic import ValidationError

from checkrein.base.harmless import harmless
from checkrein.facts import mcp
from checkrein.runtime.mcp.connection import ServerFailure
from checkrein.runtime.mcp.entry import Entry

_KEY = f"checkrein-{os.urandom(16).hex()}"
"""Where `Fault.body` puts a fault. No server knows it, so none can pretend that its own error is one."""
_SAID = 2_000
_REFUSED = (401, 403)
_BUSY = (408, 425, 429)
_TERMINATED = "Session terminated"


class Fault(Struct, frozen=True):
    """`status` is the status of an HTTP answer, 0 when there was none. `late`: it did not come in time.
    `down`: the server accepts no connection."""

    text: str
    status: int = 0
    late: bool = False
    down: bool = False

    @property
    def refused(self) -> bool:
        return self.status in _REFUSED

    @property
    def transient(self) -> bool:
        return not self.late and (self.status == 0 or self.status in _BUSY or self.status >= 500)

    def body(self) -> bytes:
        """An answer of JSON-RPC that `fault_of` reads again."""
        error = {"code": -32603, "message": self.text, "data": {_KEY: self}}
        return msgspec.json.encode({"jsonrpc": "2.0", "id": None, "error": error})


def first(error: BaseException) -> BaseException:
    """The error itself, or the first one of a group."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def fault_of(error: BaseException) -> Fault | None:
    """The fault of the network or of HTTP behind an error; None when the server itself answered."""
    error = first(error)
    if isinstance(error, MCPError) and isinstance(error.data, dict) and _KEY in error.data:
        try:
            return msgspec.convert(error.data[_KEY], Fault)
        except msgspec.ValidationError:
            return None
    if isinstance(error, httpx2.HTTPStatusError):
        return Fault(http_text(error.response), error.response.status_code)
    if isinstance(error, httpx2.TransportError):
        return unreachable(error)
    return None


def http_text(response: httpx2.Response) -> str:
    return f"It answered with HTTP status {response.status_code} {response.reason_phrase}".rstrip() + "."


def unreachable(error: httpx2.TransportError) -> Fault:
    if isinstance(error, httpx2.ReadTimeout):
        return Fault("It did not begin to answer in time.", late=True)
    if isinstance(error, httpx2.TimeoutException):
        return Fault("It could not be reached in time.", late=True)
    text = f"It could not be reached: {str(error) or type(error).__name__}."
    return Fault(text, down=isinstance(error, httpx2.ConnectError))


def is_terminated(error: BaseException) -> bool:
    """The server has forgotten our session, so the request was not carried out."""
    error = first(error)
    return isinstance(error, MCPError) and (error.code, error.message) == (INVALID_REQUEST, _TERMINATED)


def is_closed(error: BaseException) -> bool:
    error = first(error)
    return isinstance(error, MCPError) and (error.code, error.message) == (
        CONNECTION_CLOSED,
        "Connection closed",
    )


def failure(entry: Entry, error: BaseException, epitaph: str = "") -> ServerFailure:
    """The error of a request as its caller gets it. `epitaph` says how the connection ended, and what can be
    done."""
    error, name = first(error), entry.name
    if isinstance(error, ServerFailure):
        return error
    fault = fault_of(error)
    if fault is not None and fault.refused:
        hint = mcp.LOGIN_HINT.format(words=entry.named)
        return ServerFailure(f"The server `{name}` asks for a login. {fault.text} {hint}", kind="needs_auth")
    if fault is not None:
        kind = "timeout" if fault.late else "gone" if fault.status == 0 else "failed"
        return ServerFailure(f"The request to the server `{name}` failed. {_shown(fault.text)}", kind=kind)
    if is_closed(error):
        text = f"The server `{name}` is gone. {epitaph}"
        return ServerFailure(text, kind="gone")
    if isinstance(error, MCPError):
        kind = "timeout" if error.code == REQUEST_TIMEOUT else "failed"
        text = f"The server `{name}` answered with an error: {_shown(error.message)} ({error.code})"
        return ServerFailure(text, kind=kind)
    if isinstance(error, ValidationError):
        return ServerFailure(f"The server `{name}` answered with something that is not MCP.")
    return ServerFailure(f"The request to the server `{name}` failed: {_shown(str(error) or repr(error))}")


def _shown(text: str) -> str:
    return harmless(text[:_SAID])
