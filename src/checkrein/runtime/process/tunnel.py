"""A connection through the proxy that the user's environment names."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from checkrein.llm.proxy import Proxy

_LONGEST_HEAD = 1 << 16


def through(proxy: Proxy, host: str, port: int, timeout: float) -> socket.socket:
    """Raises OSError when the proxy can't or does not want to."""
    made = socket.create_connection((proxy.host, proxy.port), timeout=timeout)
    try:
        ask(made, host, port, proxy.authorization)
    except BaseException:
        made.close()
        raise
    return made


def ask(proxy: socket.socket, host: str, port: int, authorization: str | None) -> None:
    """CONNECT. Reads byte by byte: what follows the answer belongs to the host."""
    named = f"{f'[{host}]' if ':' in host else host}:{port}"
    credential = f"Proxy-Authorization: {authorization}\r\n" if authorization else ""
    proxy.sendall(f"CONNECT {named} HTTP/1.1\r\nHost: {named}\r\n{credential}\r\n".encode("ascii"))
    head = b""
    while b"\r\n\r\n" not in head and len(head) < _LONGEST_HEAD:
        byte = proxy.recv(1)
        if not byte:
            break
        head += byte
    status = head.split(b" ", 2)
    if len(status) < 2 or status[1] != b"200":
        first = head.partition(b"\r\n")[0].decode("latin-1")
        raise OSError(f"the proxy answered {first!r}")
