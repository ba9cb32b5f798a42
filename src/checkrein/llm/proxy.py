"""The proxy that the environment names."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from checkrein.base.errors import ConfigError


class Proxy(Struct, frozen=True):
    """`variable` of the environment names it. `authorization` is the value of the Proxy-Authorization header;
    it never appears in a message."""

    host: str
    port: int
    authorization: str | None = None
    variable: str = ""

    def __repr__(self) -> str:
        return f"Proxy({self.host}:{self.port})"

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"The proxy http://{host}:{self.port}, which {self.variable} names,"


def proxy_for(scheme: str, host: str, port: int, env: Mapping[str, str]) -> Proxy | None:
    """From `https_proxy`, `http_proxy` or `all_proxy` (lower case first), unless `no_proxy` names it."""
    variable, url = _lookup(env, f"{scheme}_proxy", "all_proxy")
    if not url or _bypassed(host, port, _lookup(env, "no_proxy")[1]):
        return None
    parts = urlsplit(url if "://" in url else f"http://{url}")
    if parts.scheme != "http" or not parts.hostname:
        raise ConfigError(
            f"Checkrein can't use the proxy for {scheme}: it supports only http:// proxies.",
            hint=f"Set {variable} to http://HOST:PORT, or name {host} in no_proxy.",
        )
    authorization = None
    if parts.username:
        from base64 import b64encode

        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        authorization = "Basic " + b64encode(pair.encode()).decode()
    return Proxy(parts.hostname, parts.port or 80, authorization, variable)


def _lookup(env: Mapping[str, str], *names: str) -> tuple[str, str]:
    """The first variable that is set, and its value."""
    for name in names:
        for spelled in (name, name.upper()):
            if env.get(spelled):
                return spelled, env[spelled]
    return "", ""


def _bypassed(host: str, port: int, no_proxy: str) -> bool:
    """`no_proxy` is a list of hosts, domains (with or without a leading dot), `host:port` and `*`."""
    host = host.lower()
    for entry in no_proxy.lower().replace(",", " ").split():
        if entry == "*":
            return True
        name, _, wanted = entry.partition(":") if entry.count(":") == 1 else (entry, "", "")
        if wanted and wanted != str(port):
            continue
        name = name.removeprefix("*").lstrip(".").strip("[]")
        if name and (host == name or host.endswith("." + name) or _in_network(host, name)):
            return True
    return False


def _in_network(host: str, entry: str) -> bool:
    if "/" not in entry:
        return False
    from ipaddress import ip_address, ip_network

    try:
        return ip_address(host) in ip_network(entry, strict=False)
    except ValueError:
        return False
