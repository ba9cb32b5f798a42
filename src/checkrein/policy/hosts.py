"""Hosts of addresses, and `domain:` patterns of WebFetch rules."""

from __future__ import annotations

import re

from checkrein.base.later import later
from checkrein.policy.abstract import ANY, is_static

_STRANGE = later(r"[\x00-\x20\x7f\\{}]|%|(?<![/@])\[")
_ONE_SLASH = later(r"(?i)(?:https?|wss?|ftp|file):(?!//|\d+(?:/|$))")
"""`https:/host`, `https:host`: browsers find a host there, other programs do not."""
_DISPUTED = later("[\u00df\u03c2\u200c\u200d\u00ad]")
"""Characters that the versions of the encoding of names treat differently."""
_LOOPBACK = ("localhost", "127.0.0.1", "::1", "0.0.0.0", "::", "ip6-localhost", "ip6-loopback")  # noqa: S104  # names, not bound
_LABEL = "[^.]*"
_PRIVATE_NAME = later(
    r"(?:.*\.)?(?:localhost|local|internal|intranet|lan|home\.arpa)|metadata\.google\.internal"
)
_NAT64, _SHARED = "64:ff9b::/96", "100.64.0.0/10"
_NUMERIC = later(r"(?:0x[0-9a-f]*|\d+)(?:\.(?:0x[0-9a-f]*|\d+)){0,3}")


def host_of(url: str) -> str:
    """The host of an address, in lower case and without a last dot; ANY when it is unknown.

    Programs disagree on backslashes, control characters and escapes in addresses, so such a host is unknown.
    """
    from urllib.parse import urlsplit

    if not is_static(url) or _STRANGE.search(url.split("?", 1)[0].split("#", 1)[0]):
        return ANY
    if _ONE_SLASH.match(url):
        return ANY
    try:
        host = urlsplit(url if "://" in url else f"https://{url}").hostname or ""
    except ValueError:
        return ANY
    return normal_host(host) or ANY


def normal_host(host: str) -> str:
    """One spelling for each host: lower case, ASCII, numbers as an address with dots."""
    host = host.strip().lower()
    if not host.isascii():
        if _DISPUTED.search(host):
            return ANY
        try:
            host = host.encode("idna").decode("ascii").lower()
        except UnicodeError:
            return ANY
    host = host.rstrip(".")
    if ":" in host:
        return _normal_six(host)
    return _address(host) if _NUMERIC.fullmatch(host) else host


def _normal_six(host: str) -> str:
    import ipaddress

    try:
        address = ipaddress.IPv6Address(host.strip("[]"))
    except ValueError:
        return host
    return str(address.ipv4_mapped or address)


def _address(text: str) -> str:
    """`127.1`, `0x7f000001`, `0177.0.0.1` as an address with four numbers, as the C library reads them."""
    try:
        numbers = [
            int(part, 16)
            if part.startswith("0x")
            else int(part, 8)
            if len(part) > 1 and part[0] == "0"
            else int(part)
            for part in (one if one != "0x" else "0" for one in text.split("."))
        ]
    except ValueError:
        return text
    *heads, tail = numbers
    if any(head > 255 for head in heads) or tail >= 256 ** (4 - len(heads)):
        return text
    value = tail
    for at, head in enumerate(heads):
        value |= head << (24 - 8 * at)
    return ".".join(str(value >> shift & 255) for shift in (24, 16, 8, 0))


def names_of(host: str) -> tuple[str, ...]:
    """The host under every name that surely leads to the same place: those of this machine."""
    if host in _LOOPBACK or host.startswith("127.") or host.endswith(".localhost"):
        return tuple(dict.fromkeys((host, *_LOOPBACK)))
    return (host,)


def matches_host(pattern: str, host: str) -> bool:
    """`*` alone is every host, `*.h` is the subdomains of h only; elsewhere `*` stays within one label."""
    pattern = normal_host(pattern)
    if pattern == "*":
        return True
    if pattern.startswith("*."):
        return _expression(pattern[2:], ".+\\.").fullmatch(host) is not None
    return _expression(pattern, "").fullmatch(host) is not None


def _expression(pattern: str, prefix: str) -> re.Pattern[str]:
    return re.compile(prefix + _LABEL.join(re.escape(part) for part in pattern.split("*")))


def is_private(host: str) -> bool:
    """Loopback, private and link-local addresses, and names that lead only to them."""
    if _PRIVATE_NAME.fullmatch(host):
        return True
    text = host.strip("[]")
    if ":" not in text and not _NUMERIC.fullmatch(text):
        return False
    import ipaddress

    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return True
    return not address.is_global


def is_private_address(address: str) -> bool:
    """True unless this is a public unicast address, also inside an IPv6 address."""
    import ipaddress

    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return True
    if isinstance(parsed, ipaddress.IPv6Address):
        inner = parsed.ipv4_mapped or parsed.sixtofour
        if inner is None and parsed in ipaddress.ip_network(_NAT64):
            inner = ipaddress.IPv4Address(int(parsed) & 0xFFFF_FFFF)
        if inner is not None:
            return is_private_address(str(inner))
    elif parsed in ipaddress.ip_network(_SHARED):
        return True
    return not parsed.is_global or parsed.is_multicast
