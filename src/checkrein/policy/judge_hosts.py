"""Judge the hosts that a shell command names: a program that can connect is no way around WebFetch rules."""

from __future__ import annotations

from checkrein.facts.shell_code import INTERPRETERS
from checkrein.facts.shell_paths import NETWORK_DEVICES
from checkrein.facts.shell_readonly import READ_ONLY
from checkrein.facts.shell_roles import CONNECTORS, FETCHERS
from checkrein.policy.abstract import ANY, is_static
from checkrein.policy.hosts import host_of, normal_host
from checkrein.policy.shell.code_names import connects
from checkrein.policy.shell.files import Touched
from checkrein.policy.shell.mentions import hosts
from checkrein.policy.shell.nested import nested_name
from checkrein.policy.shell.options import split_options
from checkrein.policy.shell.program import Command
from checkrein.policy.values import Piece
from checkrein.policy.view import View, piece

_LATER = "each connection is judged by its host"
_CONFIG = ("K", "config", "i", "input-file")


def strict_hosts(view: View, command: Command, files: Touched, *, code: bool = True) -> Piece | None:
    base = nested_name(command.name.rsplit("/", 1)[-1])
    certain = [host_of(url) for url in files.urls]
    for access in (*command.reads, *command.writes):
        for path in access.paths:
            if path.startswith(NETWORK_DEVICES):
                certain.append(normal_host(path.split("/")[3]) if path.count("/") > 3 else ANY)
    for host in certain:
        rule = view.host_rule(view.deny, host) if host != ANY else None
        if rule is not None:
            return piece(host, "deny", f"denied by {rule.text}", rule, effect="net")
    for host in certain:
        rule = view.host_rule(view.ask, host) if host != ANY else None
        if rule is not None:
            return piece(host, "ask", f"needs approval because of {rule.text}", rule, effect="net")
    if ANY in certain or _is_unclear(command, base, code=code):
        return piece("…", "ask", "its host is unknown", effect="net", layer="network", later=_LATER)
    return _mentioned(view, command, base)


def _mentioned(view: View, command: Command, base: str) -> Piece | None:
    if base in READ_ONLY and base not in FETCHERS:
        return None
    for text in hosts(command):
        host = host_of(text)
        if host == ANY:
            continue
        for rules in (view.deny, view.ask):
            rule = view.host_rule(rules, host)
            if rule is not None:
                reason = f"it may connect to what {rule.text} matches"
                return piece(host, "ask", reason, rule, effect="net", layer="network", later=_LATER)
    return None


def _is_unclear(command: Command, base: str, *, code: bool) -> bool:
    """Whether a program that connects gets its host from somewhere else."""
    if base in FETCHERS:
        short, long = (
            "".join(one for one in _CONFIG if len(one) == 1),
            [one for one in _CONFIG if len(one) > 1],
        )
        return bool(split_options(command.words[1:], short, long).values(_CONFIG))
    if base in CONNECTORS:
        return not all(is_static(word) for word in command.words)
    return code and base in INTERPRETERS and connects(command)
