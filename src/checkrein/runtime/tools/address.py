"""Judge where a request goes: look up the host's addresses once, judge them, and use exactly these."""

from __future__ import annotations

import ipaddress
import socket

from checkrein.runtime.tools.port import ToolFailure

_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_SHARED = ipaddress.ip_network("100.64.0.0/10")


def resolve(host: str, port: int, approved: tuple[str, ...]) -> tuple[str, ...]:
    """The addresses of a host. Fails when one of its addresses is private and the host is not approved."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ToolFailure(f"The host {host} has no known address: {error}") from None
    addresses = [str(entry[4][0]) for entry in found]
    private = [address for address in addresses if is_private(address)]
    if private and host.lower() not in approved:
        raise ToolFailure(
            f"{host} is at {private[0]}, which is not a public address. It needs a separate approval."
        )
    return tuple(dict.fromkeys(addresses))


def is_private(address: str) -> bool:
    """True unless this is a public unicast address, also inside an IPv6 address."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return True
    if isinstance(parsed, ipaddress.IPv6Address):
        inner = parsed.ipv4_mapped or parsed.sixtofour
        if inner is None and parsed in _NAT64:
            inner = ipaddress.IPv4Address(int(parsed) & 0xFFFF_FFFF)
        if inner is not None:
            return is_private(str(inner))
    elif parsed in _SHARED:
        return True
    return not parsed.is_global or parsed.is_multicast
