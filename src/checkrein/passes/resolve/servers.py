"""Which MCP servers are in effect: precedence, managed exclusiveness, switches, allow and deny lists."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from checkrein.base.origin import Origin, Scope
from checkrein.facts import claude
from checkrein.model.items import Server, SwitchedOff
from checkrein.model.project import Candidate, Effective, Resolved
from checkrein.passes.resolve.names import by_name, scope_reason
from checkrein.passes.resolve.server_lists import Endpoint, Lists, Surroundings

ORDER: Mapping[Scope, int] = {
    "managed": 0,
    "cli": 1,
    "local": 2,
    "project": 3,
    "user": 4,
    "plugin": 5,
    "bundled": 6,
}


class Refusals:
    """Why a server does not count, whoever names it. `managed_only`: the administrator has a file of servers,
    so no others count."""

    def __init__(
        self,
        settings: Mapping[str, Effective],
        around: Surroundings,
        *,
        switched_off: Iterable[SwitchedOff] = (),
        managed_only: bool = False,
    ) -> None:
        self._settings = settings
        self._managed_only = managed_only
        self._switches = {switch.name: switch.origin for switch in switched_off}
        self._around = around

    @cached_property
    def lists(self) -> Lists:
        return Lists(self._settings, self._around)

    def of(self, server: Server) -> str | None:
        found = _refusal(server, self._managed_only, self._settings, self._switches)
        return found or self.lists.refusal(server)


def in_effect(
    items: Sequence[Server], refusals: Refusals
) -> tuple[dict[str, Resolved[Server]], list[Candidate[Server]]]:
    """(in effect by name, not in effect with the reason)."""
    active: list[Server] = []
    off: list[Candidate[Server]] = []
    for server in items:
        reason = refusals.of(server)
        if reason is None:
            active.append(server)
        else:
            off.append(Candidate(server, reason))
    resolved = by_name(active, lambda server: ORDER[server.origin.scope], scope_reason)
    for name, reason in _copies(resolved, refusals.lists).items():
        off += [Candidate(one.item, reason) for one in resolved.pop(name).candidates]
    return resolved, off


def _refusal(
    server: Server, managed_only: bool, settings: Mapping[str, Effective], switches: Mapping[str, Origin]
) -> str | None:
    if managed_only and not _is_managed_file(server):
        return f"{claude.MANAGED_MCP_FILE} exists, so only its servers count"
    if server.name in switches:
        return f"switched off for this project: `disabledMcpServers` in {switches[server.name]} names it"
    if os.path.basename(server.origin.file) == claude.MCP_FILE and server.plugin is None:
        disabled = settings.get("disabledMcpjsonServers")
        names: Any = None if disabled is None else disabled.value
        if isinstance(names, list) and server.name in names:
            return "`disabledMcpjsonServers` names it"
    return None


def _copies(resolved: Mapping[str, Resolved[Server]], lists: Lists) -> dict[str, str]:
    """Servers of plugins that are already there under another name, each with the reason."""
    if all(one.item.origin.scope != "plugin" for one in resolved.values()):
        return {}
    known: dict[Endpoint, Server] = {}
    copies: dict[str, str] = {}
    for name, one in sorted(resolved.items(), key=lambda pair: ORDER[pair[1].item.origin.scope]):
        endpoint = lists.endpoint(one.item)
        if not endpoint.exists or one.item.problem is not None:
            continue
        first = known.setdefault(endpoint, one.item)
        if first is not one.item and one.item.origin.scope == "plugin":
            copies[name] = f"the server `{first.name}` in {first.origin} is the same program or address"
    return copies


def _is_managed_file(server: Server) -> bool:
    return (
        os.path.basename(server.origin.file) == claude.MANAGED_MCP_FILE and server.origin.scope == "managed"
    )
