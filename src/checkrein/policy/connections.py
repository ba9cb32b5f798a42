"""What rules and settings say about a host that a command wants to reach."""

from __future__ import annotations

from msgspec import Struct

from checkrein.base.origin import Origin
from checkrein.policy.hosts import is_private, matches_host
from checkrein.policy.policy import Policy
from checkrein.policy.values import Context, Verdict
from checkrein.policy.view import View


class HostLists(Struct, frozen=True, kw_only=True):
    """The sandbox's lists of hosts. `allowed` None: every host that nothing denies."""

    allowed: tuple[str, ...] | None = None
    denied: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.allowed is not None or bool(self.denied)


NO_LISTS = HostLists()
_LOOPBACK = ("127.0.0.1", "localhost", "::1", "0.0.0.0", "127.0.1.1", "::")  # noqa: S104  as names


class HostVerdict(Struct, frozen=True, kw_only=True):
    """`named`: a rule or a list names the host, so it may have a private address."""

    verdict: Verdict
    reason: str = ""
    rule: str | None = None
    origin: Origin | None = None
    named: bool = False


def needs_proxy(policy: Policy, context: Context, lists: HostLists = NO_LISTS) -> bool:
    """Whether a rule or a list names single hosts."""
    views = (View(compiled, context) for compiled in policy.compiled)
    return bool(lists) or any(view.deny.domains or view.ask.domains for view in views)


def denies_loopback(policy: Policy, context: Context, lists: HostLists = NO_LISTS) -> bool:
    """Whether a rule speaks of this machine itself."""
    return any(judge_host(policy, context, lists, host).verdict != "allow" for host in _LOOPBACK)


def first_rule(policy: Policy, context: Context) -> tuple[str, Origin | None]:
    """A rule about hosts, to say what the network is closed for."""
    for compiled in policy.compiled:
        view = View(compiled, context)
        for one in (*view.deny.domains, *view.ask.domains):
            return one.rule.text, one.rule.origin
    return "sandbox.network", None


def denied_hosts(policy: Policy, context: Context, lists: HostLists = NO_LISTS) -> tuple[str, ...]:
    """The hosts that are denied by their full names."""
    found = [one.domain for compiled in policy.compiled for one in View(compiled, context).deny.domains]
    return tuple(dict.fromkeys(name for name in (*found, *lists.denied) if "*" not in name))


def judge_host(policy: Policy, context: Context, lists: HostLists, host: str) -> HostVerdict:
    """Deny before ask before allow. Every layer of the policy counts."""
    host = host.lower().rstrip(".").strip("[]")
    asked: HostVerdict | None = None
    allowed = True
    for compiled in policy.compiled:
        view = View(compiled, context)
        rule = view.host_rule(view.deny, host)
        if rule is not None:
            return HostVerdict(
                verdict="deny",
                reason=f"{host} is denied by {rule.text}",
                rule=rule.text,
                origin=rule.origin,
            )
        rule = view.host_rule(view.ask, host)
        if rule is not None:
            asked = HostVerdict(
                verdict="ask",
                reason=f"{host} needs approval because of {rule.text}",
                rule=rule.text,
                origin=rule.origin,
                named=True,
            )
        allowed = allowed and view.host_rule(view.allow, host) is not None
    if any(matches_host(pattern, host) for pattern in lists.denied):
        return HostVerdict(verdict="deny", reason=f"{host} is in sandbox.network.deniedDomains")
    listed = lists.allowed is not None and any(matches_host(pattern, host) for pattern in lists.allowed)
    if lists.allowed is not None and not listed:
        return HostVerdict(verdict="deny", reason=f"{host} is not in sandbox.network.allowedDomains")
    if asked is not None:
        return asked
    named = allowed or (listed and (not is_private(host) or host in (lists.allowed or ())))
    return HostVerdict(verdict="allow", named=named)
