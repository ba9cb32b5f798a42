"""The wire of the proxy: requests as clients send them, the name in a TLS greeting, bytes both ways."""

from __future__ import annotations

import contextlib
import select
import socket
import struct

from checkrein.policy.hosts import host_of

_LONGEST_HEAD = 1 << 16
_CHUNK = 1 << 16
_QUIET = 600.0
_HANDSHAKE, _TLS_HEAD = b"\x16", 5
_ONCE = frozenset({"host", "content-length", "transfer-encoding", "proxy-authorization"})
_HOP = frozenset({"proxy-authorization", "proxy-connection", "connection", "keep-alive", "host", "expect"})


class Request:
    """A request to the proxy. `rest` are the bytes after its head. Raises ValueError when it is none."""

    def __init__(self, head: bytes, rest: bytes) -> None:
        first, *lines = head.decode("latin-1").split("\r\n")
        self.method, self._target, self._version = first.split(" ")
        self._lines = [line for line in lines if line]
        self.headers: dict[str, str] = {}
        for line in self._lines:
            name, colon, value = line.partition(":")
            again = name.lower() in self.headers and name.lower() in _ONCE
            if not colon or name != name.strip() or again:
                raise ValueError("a header that programs read in different ways")
            self.headers[name.lower()] = value.strip()
        if {"content-length", "transfer-encoding"} <= self.headers.keys():
            raise ValueError("a body with two lengths")
        self.rest = rest
        if self.method == "CONNECT":
            host, _, port = self._target.rpartition(":")
            self._path = ""
        else:
            scheme, mark, after = self._target.partition("://")
            if scheme.lower() != "http" or not mark:
                raise ValueError("not a request for a proxy")
            authority, slash, path = after.partition("/")
            self._path = slash + path or "/"
            host, _, port = authority.rpartition("@")[2].partition(":")
            if authority.startswith("["):
                host, _, port = authority.partition("]:")
        self.host = host_of(host.strip("[]") if ":" not in host.strip("[]") else f"[{host.strip('[]')}]")
        self.port = int(port or 80)

    @property
    def inner_host(self) -> str:
        """The host in the headers of a plain request."""
        given = self.headers.get("host", "")
        return host_of(given) if given and self.method != "CONNECT" else ""

    def send(self, upstream: socket.socket, client: socket.socket) -> None:
        """Pass on exactly one request: head and body."""
        lines = [line for line in self._lines if line.partition(":")[0].lower() not in _HOP]
        named = self.host if ":" not in self.host else f"[{self.host}]"
        shown = named if self.port == 80 else f"{named}:{self.port}"
        path = self._path if self._path.startswith("/") else "/" + self._path
        head = [f"{self.method} {path} {self._version}", f"Host: {shown}", "Connection: close", *lines]
        upstream.sendall("\r\n".join([*head, "", ""]).encode("latin-1"))
        if self.headers.get("expect", "").lower() == "100-continue":
            client.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        body = _Body(client, self.rest)
        if "chunked" in self.headers.get("transfer-encoding", "").lower():
            body.copy_chunks(upstream)
        elif self.headers.get("content-length", "").isdigit():
            body.copy(upstream, int(self.headers["content-length"]))


class _Body:
    def __init__(self, source: socket.socket, begun: bytes) -> None:
        self._source = source
        self._buffer = begun

    def copy(self, to: socket.socket, size: int) -> None:
        while size > 0:
            data = self._take(size)
            to.sendall(data)
            size -= len(data)

    def copy_chunks(self, to: socket.socket) -> None:
        while True:
            line = self._line()
            to.sendall(line)
            size = int(line.split(b";", 1)[0], 16)
            if size == 0:
                to.sendall(self._line())
                return
            self.copy(to, size + 2)

    def _take(self, most: int) -> bytes:
        data = self._buffer[:most] or self._source.recv(min(most, _CHUNK))
        if not data:
            raise ValueError("the body ended early")
        self._buffer = self._buffer[len(data) :] if self._buffer else b""
        return data

    def _line(self) -> bytes:
        while b"\n" not in self._buffer:
            more = self._source.recv(_CHUNK)
            if not more or len(self._buffer) > _LONGEST_HEAD:
                raise ValueError("a line without an end")
            self._buffer += more
        line, mark, self._buffer = self._buffer.partition(b"\n")
        return line + mark


def read_request(client: socket.socket) -> Request:
    data = b""
    while b"\r\n\r\n" not in data:
        more = client.recv(_CHUNK)
        if not more or len(data) > _LONGEST_HEAD:
            raise ValueError("a request without an end")
        data += more
    head, _, rest = data.partition(b"\r\n\r\n")
    return Request(head, rest)


def relay(client: socket.socket, upstream: socket.socket, *, one_way: bool = False) -> None:
    """Pass bytes on until both sides are done; with `one_way`, only what comes from upstream."""
    ways = {upstream: client} if one_way else {client: upstream, upstream: client}
    for one in (client, upstream):
        one.settimeout(_QUIET)
    while ways:
        ready, _, _ = select.select(list(ways), [], [], _QUIET)
        if not ready:
            return
        for source in ready:
            goal = ways[source]
            data = source.recv(_CHUNK)
            if data:
                goal.sendall(data)
                continue
            del ways[source]
            with contextlib.suppress(OSError):
                goal.shutdown(socket.SHUT_WR)


def first_bytes(client: socket.socket, upstream: socket.socket, begun: bytes, patience: float) -> bytes:
    """What the client says first, with a TLS greeting as a whole; nothing when the server begins."""
    data = begun
    if not data:
        ready, _, _ = select.select([client, upstream], [], [], patience)
        if client not in ready:
            return b""
        data = client.recv(_CHUNK)
    while data[:1] == _HANDSHAKE and len(data) < _TLS_HEAD + int.from_bytes(data[3:5], "big"):
        more = client.recv(_CHUNK)
        if not more:
            break
        data += more
    return data


def server_name(greeting: bytes) -> str:
    """The host in a TLS client's greeting; empty when there is none or it is something else. Raises
    ValueError for a greeting in pieces, which no ordinary client sends."""
    if greeting[:1] == _HANDSHAKE and len(greeting) > 9:
        record, message = int.from_bytes(greeting[3:5], "big"), int.from_bytes(greeting[6:9], "big")
        if message + 4 > record:
            raise ValueError("a greeting in pieces")
    try:
        if greeting[:1] != _HANDSHAKE or greeting[5] != 1:
            return ""
        at = 43
        at += 1 + greeting[at]
        at += 2 + struct.unpack_from("!H", greeting, at)[0]
        at += 1 + greeting[at]
        end = at + 2 + struct.unpack_from("!H", greeting, at)[0]
        at += 2
        while at + 4 <= end:
            kind, size = struct.unpack_from("!HH", greeting, at)
            if kind == 0:
                length = struct.unpack_from("!H", greeting, at + 7)[0]
                return host_of(greeting[at + 9 : at + 9 + length].decode("ascii"))
            at += 4 + size
    except (IndexError, struct.error, UnicodeDecodeError):
        return ""
    return ""
