"""The servers of one agent as if a session had them: to look at, and to approve."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from checkrein.base.errors import NotFoundError
from checkrein.model.items import Server
from checkrein.model.project import Candidate, Project, Resolved
from checkrein.model.view import View
from checkrein.passes.agents import agent_types, no_agent
from checkrein.runtime.trust import Standing


def as_agent(
    project: Project, trust: Standing, env: Mapping[str, str], name: str
) -> tuple[Project, Standing]:
    """The project and what counts of it, with the agent's own servers in place of the session's. Raises
    NotFoundError when nobody has the name."""
    kinds = agent_types(View(trust.project), env, trusts=trust.trusts)
    kind = kinds.get(name)
    if kind is None:
        raise NotFoundError(no_agent(name, kinds), kind="agent_not_found")
    written = project.agents[name].item.servers if name in project.agents else ()
    off = tuple(one for one in project.inactive if any(one.item == server for server in written))
    left = [server for server in written if all(one.item != server for one in off)]
    counts = replace(trust.project, servers=_resolved(kind.servers), inactive=off)
    whole = replace(project, servers=_resolved(left), inactive=off)
    return whole, replace(trust, project=counts)


def _resolved(servers: Iterable[Server]) -> dict[str, Resolved[Server]]:
    return {one.name: Resolved(one.name, one, (Candidate(one),)) for one in servers}
