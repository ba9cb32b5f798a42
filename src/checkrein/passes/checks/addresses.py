"""Addresses of servers and hooks."""

from __future__ import annotations

from urllib.parse import urlsplit

_LOOPBACK = ("localhost", "127.0.0.1", "::1", "0.0.0.0", "host.docker.internal")  # noqa: S104


def host_of(url: str) -> str:
    """The host of an address, without user, password and port; the empty string when there is none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def is_plain_remote(url: str) -> bool:
    """True for http and ws to another machine; a host that comes from a variable does not count."""
    scheme = url.partition("://")[0].lower()
    host = host_of(url)
    if scheme not in ("http", "ws") or not host or "$" in host or "{" in host:
        return False
    return host not in _LOOPBACK and not host.endswith(".localhost") and not host.startswith("127.")
