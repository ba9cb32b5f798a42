"""Agent files that change while a session runs: the new text counts with the next prompt.

An agent has at most what its parent has, whatever its file says. Hooks and servers of its own would start
programs, and in its memory it writes without approval: an agent keeps those that it had at the start, minus
those that its file no longer lists, and a new agent has none.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from checkrein.model.items import Agent
from checkrein.model.project import Candidate, Place, Resolved
from checkrein.runtime.skills.renewal import Stamps, config_dirs

if TYPE_CHECKING:
    from checkrein.runtime.session.conversation import Conversation


class AgentFiles:
    """The `agents/` directories that exist now, and the state of their files at the last look."""

    def __init__(self, place: Place) -> None:
        self._within = place.within
        self._roots = tuple(config_dirs(place, "agents"))
        self._stamps = Stamps(self._files)

    def changed(self) -> bool:
        """Whether anything has changed since the last call."""
        return bool(self._stamps.changed())

    def agents(self) -> list[Agent]:
        """Highest precedence first."""
        from checkrein.dialects.claude.read import read_agents
        from checkrein.dialects.codes import Log

        log = Log(self._within)
        return [agent for path, scope in self._roots for agent in read_agents(path, scope, log)]

    def holds(self, agent: Agent) -> bool:
        return any(agent.origin.file.startswith(f"{path}/") for path, _ in self._roots)

    def _files(self) -> Iterator[str]:
        for root, _ in self._roots:
            for folder, _, names in os.walk(root):
                yield from (f"{folder}/{name}" for name in names if name.endswith(".md"))


def renew_agents(conversation: Conversation, files: AgentFiles) -> str:
    """Read the files again. Returns the news for the model: agents that are new, gone, or have a new
    description."""
    from checkrein.passes.resolve import resolve

    view, denial = conversation.view, conversation.skills.shelf.denial
    project = view.project
    kept = (agent for agent in project.sources.agents if not files.holds(agent))
    sources = replace(project.sources, agents=(*kept, *files.agents()))
    found = resolve(project.place, sources, project.detection).agents
    agents = {
        name: _narrowed(project.agents.get(name), one)
        for name, one in found.items()
        if not files.holds(one.item) or denial(one.item.origin.file) is None
    }
    before = {name: kind.description for name, kind in conversation.offer.agents.items()}
    conversation.view = replace(view, project=replace(project, agents=agents))
    conversation.offer.look_again(conversation.view)
    return _news(before, {name: kind.description for name, kind in conversation.offer.agents.items()})


def _narrowed(before: Resolved[Agent] | None, now: Resolved[Agent]) -> Resolved[Agent]:
    hooks = before.item.hooks if before is not None else ()
    servers = before.item.servers if before is not None else ()
    had = before is not None and before.item.origin.scope == now.item.origin.scope and before.item.memory
    item = replace(
        now.item,
        hooks=tuple(hook for hook in hooks if hook in now.item.hooks),
        servers=tuple(server for server in servers if server in now.item.servers),
        memory=now.item.memory if now.item.memory == had else None,
    )
    return Resolved(now.name, item, (Candidate(item), *now.candidates[1:]))


def _news(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    lines = [f"- {name}: {text}" for name, text in now.items() if before.get(name) != text]
    gone = [name for name in before if name not in now]
    parts = ["\n".join(("These types of agents are new or have a new description:", *lines))] if lines else []
    parts += [f"These types of agents are gone: {', '.join(gone)}."] if gone else []
    return "\n".join(parts)
