"""Judge where a request goes: look up the host's addresses once, judge them, and use exactly these."""

from __future__ import annotations

import socket

from checkrein.policy.hosts import is_private_address
from checkrein.runtime.tools.port import ToolFailure


def resolve(host: str, port: int, approved: tuple[str, ...]) -> tuple[str, ...]:
    """The addresses of a host. Fails when one of its addresses is private and the host is not approved."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ToolFailure(f"The host {host} has no known address: {error}") from None
    addresses = [str(entry[4][0]) for entry in found]
    private = [address for address in addresses if is_private_address(address)]
    if private and host.lower() not in approved:
        raise ToolFailure(
            f"{host} is at {private[0]}, which is not a public address. It needs a separate approval."
        )
    return tuple(dict.fromkeys(addresses))
