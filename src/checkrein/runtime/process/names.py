"""Judges and dials the hosts of a command by the rules of its session."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from checkrein.base.errors import ConfigError
from checkrein.llm.proxy import proxy_for
from checkrein.policy.connections import HostLists, HostVerdict, denied_hosts, judge_host
from checkrein.policy.hosts import is_private_address

if TYPE_CHECKING:
    from checkrein.policy.policy import Policy
    from checkrein.policy.values import Context

_PATIENCE = 30.0
Ask = Callable[[str, int, HostVerdict], bool]


class NamedHosts:
    """A `HostJudge`. `ask` puts the question of an ask rule to a person; without it the answer is no. What is
    permitted goes through the proxy that `env`, the user's environment, names."""

    def __init__(
        self,
        policy: Policy,
        context: Context,
        lists: HostLists,
        env: Mapping[str, str],
        ask: Ask | None = None,
    ) -> None:
        self._policy = policy
        self._context = context
        self._lists = lists
        self._env = env
        self._ask = ask

    def judge(self, host: str, port: int) -> HostVerdict:
        found = judge_host(self._policy, self._context, self._lists, host)
        if found.verdict == "allow" and _is_address(host) and not found.named:
            return self._judge_address(host) or found
        if found.verdict != "ask":
            return found
        if self._ask is not None and self._ask(host, port, found):
            return HostVerdict(verdict="allow", named=True)
        return HostVerdict(verdict="deny", reason=found.reason, rule=found.rule, origin=found.origin)

    def _judge_address(self, address: str) -> HostVerdict | None:
        """An address is refused when it is that of a denied host."""
        for name in denied_hosts(self._policy, self._context, self._lists):
            if address.strip("[]") in _addresses(name, 0):
                found = judge_host(self._policy, self._context, self._lists, name)
                return HostVerdict(
                    verdict="deny",
                    reason=f"it is the address of {name}: {found.reason}",
                    rule=found.rule,
                    origin=found.origin,
                )
        return None

    def dial(self, host: str, port: int, named: bool) -> socket.socket:
        try:
            upstream = proxy_for("https" if port == 443 else "http", host, port, self._env)
        except ConfigError as error:
            raise OSError(error.message) from None
        addresses = _addresses(host, port)
        for one in addresses:
            found = judge_host(self._policy, self._context, self._lists, one)
            if found.rule is not None and found.verdict == "deny":
                raise PermissionError(13, f"{host} is at {one}: {found.reason}")
        if not named:
            private = [one for one in addresses if is_private_address(one)]
            if private:
                raise PermissionError(
                    13, f"{host} is at {private[0]}, which is not public, and no rule names {host}"
                )
        if upstream is not None:
            from checkrein.runtime.process.tunnel import through

            return through(upstream, host, port, _PATIENCE)
        if not addresses:
            raise OSError(f"{host} has no known address")
        for one in addresses[:-1]:
            try:
                return socket.create_connection((one, port), timeout=_PATIENCE / 3)
            except OSError:
                continue
        return socket.create_connection((addresses[-1], port), timeout=_PATIENCE)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


def _addresses(host: str, port: int) -> tuple[str, ...]:
    try:
        found = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return ()
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))
