"""The MCP servers that one conversation starts and ends itself."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from checkrein.model.items import Server
from checkrein.model.view import View


class OwnServers(Struct, frozen=True, kw_only=True):
    """At the root those of the session, below it those of the agent's definition. `agent` is the agent that
    the conversation is, `of_agent` the names of those that its definition brings: the first request waits for
    them. `keeps` says which of their tools the conversation has."""

    items: tuple[Server, ...] = ()
    agent: str | None = None
    of_agent: frozenset[str] = frozenset()
    keeps: Callable[[str], bool] = lambda name: True


NONE = OwnServers()


def servers_of_session(view: View, agent: str | None, brought: tuple[Server, ...]) -> OwnServers:
    """Those of the view, and those that the agent brings which the session is. Of one name the agent's
    counts."""
    own = {one.name: one for one in brought}
    return OwnServers(items=tuple({**view.servers, **own}.values()), agent=agent, of_agent=frozenset(own))


def servers_of_agent(agent: str, brought: tuple[Server, ...], keeps: Callable[[str], bool]) -> OwnServers:
    names = frozenset(one.name for one in brought)
    return OwnServers(items=brought, agent=agent, of_agent=names, keeps=keeps)
