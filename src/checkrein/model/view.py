"""What one session may see of a project. Narrowing only removes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from checkrein.model.items import Agent, Command, Server, Skill
from checkrein.model.project import Governance, Project, SessionMode

Told = TypeVar("Told", Skill, Command)
Names = frozenset[str] | None
"""The visible names; None means all."""


class Visibility(Struct, frozen=True, kw_only=True):
    """The rules for one session. `target` is the skill that a worker runs, `requires_packs` what a recipe
    switches on for its run."""

    governance: Governance = Governance()
    mode: SessionMode = "plain"
    target: str | None = None
    requires_packs: frozenset[str] = frozenset()


class View(Struct, frozen=True):
    """A project through a filter. The project itself is whole; consumers ask the view.

    `rules` decided which skills and commands are `hidden`, and which are `quiet`: only a user may invoke
    them. The rules stay with the view, because a session meets more skills while it runs.
    """

    project: Project
    skill_names: Names = None
    command_names: Names = None
    agent_names: Names = None
    server_names: Names = None
    tool_names: Names = None
    rules: Visibility | None = None
    hidden: frozenset[str] = frozenset()
    quiet: frozenset[str] = frozenset()

    def narrow(
        self,
        *,
        skills: Iterable[str] | None = None,
        commands: Iterable[str] | None = None,
        agents: Iterable[str] | None = None,
        servers: Iterable[str] | None = None,
        tools: Iterable[str] | None = None,
    ) -> View:
        """This view with only the given names; None keeps a kind unchanged."""
        return replace(
            self,
            skill_names=_meet(self.skill_names, skills),
            command_names=_meet(self.command_names, commands),
            agent_names=_meet(self.agent_names, agents),
            server_names=_meet(self.server_names, servers),
            tool_names=_meet(self.tool_names, tools),
        )

    def under(self, other: View) -> View:
        """The part of this view that the other also shows."""
        narrowed = self.narrow(
            skills=other.skill_names,
            commands=other.command_names,
            agents=other.agent_names,
            servers=other.server_names,
            tools=other.tool_names,
        )
        return replace(
            narrowed,
            rules=self.rules or other.rules,
            hidden=self.hidden | other.hidden,
            quiet=self.quiet | other.quiet,
        )

    @property
    def skills(self) -> dict[str, Skill]:
        every = self.project.skills.items()
        return {
            n: self._heard(r.item) for n, r in every if _sees(self.skill_names, n) and n not in self.hidden
        }

    @property
    def commands(self) -> dict[str, Command]:
        every = self.project.commands.items()
        return {
            n: self._heard(r.item) for n, r in every if _sees(self.command_names, n) and n not in self.hidden
        }

    @property
    def agents(self) -> dict[str, Agent]:
        return {n: r.item for n, r in self.project.agents.items() if _sees(self.agent_names, n)}

    @property
    def servers(self) -> dict[str, Server]:
        return {n: r.item for n, r in self.project.servers.items() if _sees(self.server_names, n)}

    def _heard(self, item: Told) -> Told:
        return replace(item, model_invocable=False) if item.name in self.quiet else item

    def sees_server(self, name: str) -> bool:
        return _sees(self.server_names, name)

    def sees_tool(self, name: str) -> bool:
        return _sees(self.tool_names, name)


def _sees(names: Names, name: str) -> bool:
    return names is None or name in names


def _meet(one: Names, other: Iterable[str] | None) -> Names:
    if other is None:
        return one
    return frozenset(other) if one is None else one & frozenset(other)
