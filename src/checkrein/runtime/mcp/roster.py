"""Every server of a project with its part in a session: used, or why not."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from checkrein.model.items import Server
from checkrein.model.project import Project
from checkrein.policy.trust import Trust
from checkrein.runtime.mcp.tool_names import may_be_of

Part = Literal["used", "untrusted", "shadowed", "off", "broken"]


class Listed(Struct, frozen=True):
    """`reason` says why a server is not used, and what to do."""

    server: Server
    part: Part
    reason: str | None = None


def roster(project: Project, trust: Trust) -> tuple[Listed, ...]:
    """By name; of one name the winner first. `project` is the whole one, `trust` what remains of it."""
    used = {name: resolved.item for name, resolved in trust.project.servers.items()}
    found: list[Listed] = []
    for name, resolved in project.servers.items():
        ranked = sorted(resolved.candidates, key=lambda one: one.item != used.get(name))
        found += [_listed(one.item, one.lost, used.get(name), trust) for one in ranked]
    for candidate in project.inactive:
        server = candidate.item
        if isinstance(server, Server):
            counts = used.get(server.name) == server
            found.append(Listed(server, "used") if counts else Listed(server, "off", candidate.lost))
    return tuple(found)


def _listed(server: Server, lost: str | None, winner: Server | None, trust: Trust) -> Listed:
    if winner == server:
        return Listed(server, "used") if server.problem is None else Listed(server, "broken", server.problem)
    if lost is None:
        reason = f"{trust.status.reason} `checkrein trust` shows what it would run, and asks."
        return Listed(server, "untrusted", reason)
    return Listed(server, "shadowed", lost)


def of_tool(listed: tuple[Listed, ...], tool: str) -> tuple[Listed, ...]:
    """The servers that a tool name such as `mcp__tracker__create` may belong to: those with the longest name
    that fits."""
    fits = [one for one in listed if may_be_of(one.server.name, tool)]
    longest = max((len(one.server.name) for one in fits), default=0)
    return tuple(one for one in fits if len(one.server.name) == longest)
