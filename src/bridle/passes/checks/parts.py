"""The parts of a project that checks walk over, and where a finding about one is placed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from msgspec import Struct

from bridle.base.origin import Origin, Span
from bridle.facts.claude import BUILTIN_AGENTS
from bridle.model.items import Agent, Command, Hook, Instruction, Item, Server, Skill
from bridle.model.project import Project


class Hooked(Struct, frozen=True):
    """A hook, and the skill, command or agent whose frontmatter holds it; None for settings and plugins."""

    hook: Hook
    owner: Skill | Command | Agent | None = None


class Text(Struct, frozen=True):
    """The prose of one item: a body, or the text of an instruction file."""

    owner: Skill | Command | Agent | Instruction
    kind: str


def invocables(project: Project) -> Iterator[Skill | Command]:
    yield from project.sources.skills
    yield from project.sources.commands


def in_effect(project: Project) -> Iterator[Skill | Command]:
    """Skills and commands that won their name."""
    for skill in project.skills.values():
        yield skill.item
    for command in project.commands.values():
        yield command.item


def bodies(project: Project) -> Iterator[Skill | Command | Agent]:
    yield from invocables(project)
    yield from project.sources.agents


def hooks(project: Project) -> Iterator[Hooked]:
    """Every hook that is written anywhere, in effect or not."""
    for hook in project.sources.hooks:
        yield Hooked(hook)
    for owner in bodies(project):
        for hook in owner.hooks:
            yield Hooked(hook, owner)


def servers(project: Project) -> Iterator[Server]:
    """Every server entry, those that agents bring along included."""
    return chain(project.sources.servers, (s for agent in project.sources.agents for s in agent.servers))


def plugin_root(project: Project, name: str | None) -> str | None:
    return next((plugin.root for plugin in project.sources.plugins if plugin.name == name), None)


def top(item: Item) -> Origin:
    """Where a finding about the whole item stands: its own place, or the file's first line."""
    return item.origin if item.origin.span else item.origin.at(Span(1), item.origin.field)


def field(item: Item, name: str) -> Origin:
    """The place of a field, or the item's where it is not written."""
    return item.where(name) if name in item.spans else top(item)


def noun(item: object) -> str:
    """What a user calls this kind of item."""
    return "rule" if isinstance(item, Instruction) else type(item).__name__.lower()


def owner_noun(hooked: Hooked) -> str:
    return noun(hooked.owner) if hooked.owner else "settings" if not hooked.hook.plugin else "plugin"


def agent_names(project: Project) -> frozenset[str]:
    """Every agent that can be started, built-in ones included."""
    return frozenset((*project.agents, *BUILTIN_AGENTS))


def names_agent(name: str, known: frozenset[str], plugin: str | None) -> bool:
    """True where `name` is an agent, or one of the plugin that speaks."""
    if name in known:
        return True
    return plugin is not None and any(
        other.startswith(f"{plugin}:") and other.endswith(f":{name}") for other in known
    )
