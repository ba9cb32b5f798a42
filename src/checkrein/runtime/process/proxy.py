"""A proxy on this machine for the commands of a session: the network by the names of hosts.

HTTP requests and CONNECT come here, each with the token of its command. The host is judged, its addresses are
looked up here and judged too, and for TLS the name in the first message must pass as well. Nothing else is
looked at: what goes through a permitted connection is the command's business.
"""

from __future__ import annotations

import base64
import contextlib
import secrets
import socket
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from checkrein.runtime.process.proxy_wire import Request, first_bytes, read_request, relay, server_name

if TYPE_CHECKING:
    from checkrein.base.origin import Origin
    from checkrein.policy.connections import HostVerdict

_HERE = "127.0.0.1"
_PATIENCE = 30.0
_NAMES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


class Unreachable(Struct, frozen=True, kw_only=True):
    """A connection that was refused."""

    host: str
    port: int
    reason: str
    rule: str | None = None
    origin: Origin | None = None

    def __str__(self) -> str:
        return f"{self.host}:{self.port} was refused: {self.reason}."


class HostJudge(Protocol):
    """Any thread may call it. `judge` may take as long as a person needs to answer."""

    def judge(self, host: str, port: int) -> HostVerdict: ...

    def dial(self, host: str, port: int, named: bool) -> socket.socket:
        """Connect. `named`: a private address is fine. Raises OSError with a reason."""
        ...


End = Callable[["Lease"], None]


class Lease:
    """The way to the network of one command. `refused` grows while it runs."""

    def __init__(self, judge: HostJudge, told: Callable[[Unreachable], object], end: End) -> None:
        self.token = secrets.token_hex(8)
        self.judge = judge
        self.refused: list[Unreachable] = []
        self._told = told
        self._end = end

    def close(self) -> None:
        """The token means nothing any more."""
        self._end(self)

    def refuse(self, host: str, port: int, verdict: HostVerdict) -> Unreachable:
        one = Unreachable(
            host=host, port=port, reason=verdict.reason, rule=verdict.rule, origin=verdict.origin
        )
        self.refused.append(one)
        self._told(one)
        return one


class NameProxy:
    """Starts with the first lease. `close` ends every connection."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._server: socket.socket | None = None
        self._leases: dict[str, Lease] = {}
        self._open: set[socket.socket] = set()

    @property
    def address(self) -> tuple[str, int]:
        with self._lock:
            if self._server is None:
                self._server = socket.create_server((_HERE, 0), backlog=128)
                threading.Thread(
                    target=self._serve, args=(self._server,), name="checkrein-proxy", daemon=True
                ).start()
            return _HERE, int(self._server.getsockname()[1])

    def lease(self, judge: HostJudge, told: Callable[[Unreachable], object] = lambda refused: None) -> Lease:
        """For one command. Close it when the command is over."""
        lease = Lease(judge, told, self._take_back)
        with self._lock:
            self._leases[lease.token] = lease
        return lease

    def _take_back(self, lease: Lease) -> None:
        with self._lock:
            self._leases.pop(lease.token, None)

    def env(self, lease: Lease, *, loopback: bool) -> dict[str, str]:
        """Variables that lead programs here. With `loopback` they reach this machine directly."""
        host, port = self.address
        url = f"http://checkrein:{lease.token}@{host}:{port}"
        direct = "localhost,127.0.0.1,::1" if loopback else ""
        found = {"NO_PROXY": direct, "no_proxy": direct, "NODE_USE_ENV_PROXY": "1"}
        for name in _NAMES:
            found |= {name: url, name.lower(): url}
        return found

    def close(self) -> None:
        with self._lock:
            server, self._server = self._server, None
            pending, self._open = self._open, set()
            self._leases.clear()
        if server is not None:
            with contextlib.suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)
            server.close()
        for one in pending:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def _serve(self, server: socket.socket) -> None:
        while True:
            try:
                client, _ = server.accept()
            except OSError:
                return
            with self._lock:
                self._open.add(client)
            threading.Thread(
                target=self._handle, args=(client,), name="checkrein-proxied", daemon=True
            ).start()

    def _handle(self, client: socket.socket) -> None:
        try:
            client.settimeout(_PATIENCE)
            request = read_request(client)
            lease = self._lease_of(request)
            if lease is None:
                client.sendall(_answer(407, "The proxy of this session wants its own token."))
                return
            self._forward(client, request, lease)
        except (OSError, ValueError):
            pass
        finally:
            with self._lock:
                self._open.discard(client)
            client.close()

    def _lease_of(self, request: Request) -> Lease | None:
        kind, _, value = request.headers.get("proxy-authorization", "").partition(" ")
        if kind.lower() != "basic":
            return None
        try:
            token = base64.b64decode(value).decode("ascii").partition(":")[2]
        except (ValueError, UnicodeDecodeError):
            return None
        with self._lock:
            return self._leases.get(token)

    def _forward(self, client: socket.socket, request: Request, lease: Lease) -> None:
        verdict = self._judged(lease, request.host, request.port)
        if verdict.verdict != "allow":
            client.sendall(_answer(403, str(lease.refuse(request.host, request.port, verdict))))
            return
        # A plain request names its host twice; a server may follow either.
        inner = request.inner_host
        if inner and inner != request.host and not self._passes(lease, inner, request.port):
            client.sendall(_answer(403, f"{inner} was refused."))
            return
        try:
            upstream = lease.judge.dial(request.host, request.port, verdict.named)
        except OSError as error:
            reason = str(error.strerror or error)
            if isinstance(error, PermissionError):
                from checkrein.policy.connections import HostVerdict

                lease.refuse(request.host, request.port, HostVerdict(verdict="deny", reason=reason))
            client.sendall(_answer(502, f"{request.host} could not be reached: {reason}"))
            return
        with upstream:
            if request.method == "CONNECT":
                client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                first = first_bytes(client, upstream, request.rest, _PATIENCE)
                name = server_name(first)
                if name and name != request.host and not self._passes(lease, name, request.port):
                    return
                upstream.sendall(first)
                relay(client, upstream)
            else:
                request.send(upstream, client)
                relay(client, upstream, one_way=True)

    def _passes(self, lease: Lease, host: str, port: int) -> bool:
        verdict = self._judged(lease, host, port)
        if verdict.verdict != "allow":
            lease.refuse(host, port, verdict)
        return verdict.verdict == "allow"

    def _judged(self, lease: Lease, host: str, port: int) -> HostVerdict:
        try:
            return lease.judge.judge(host, port)
        except Exception as error:  # a judge that fails allows nothing
            from checkrein.policy.connections import HostVerdict

            return HostVerdict(verdict="deny", reason=f"it could not be judged: {error}")


def _answer(status: int, text: str) -> bytes:
    names = {403: "Forbidden", 407: "Proxy Authentication Required", 502: "Bad Gateway"}
    body = f"{text}\n".encode()
    wanted = 'Proxy-Authenticate: Basic realm="checkrein"\r\n' if status == 407 else ""
    head = (
        f"HTTP/1.1 {status} {names[status]}\r\nContent-Type: text/plain; charset=utf-8\r\n{wanted}"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body


def closed_ports(env: Mapping[str, str]) -> tuple[int, ...]:
    """Ports of this machine that lead out: those of the proxies in the user's own environment."""
    from urllib.parse import urlsplit

    found = []
    for name in _NAMES:
        for value in (env.get(name), env.get(name.lower())):
            with contextlib.suppress(ValueError):
                port = urlsplit(value if value and "://" in value else f"http://{value or ''}").port
                found += [port] if port else []
    return tuple(dict.fromkeys(found))
