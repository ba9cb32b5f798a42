"""The parts of a project that checks walk over, and the place of a finding about one."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from checkrein.base.origin import Origin, Span
from checkrein.facts.claude import BUILTIN_AGENTS
from checkrein.model.items import Agent, Command, Hook, Instruction, Item, Server, Skill
from checkrein.model.project import Project


class Hooked(Struct, frozen=True):
    """A hook, and the skill, command or agent whose frontmatter holds it; None for settings and plugins."""

    hook: Hook
    owner: Skill | Command | Agent | None = None


def invocables(project: Project) -> Iterator[Skill | Command]:
    yield from project.sources.skills
    yield from project.sources.commands


def takes_arguments(item: Skill | Command) -> bool:
    """Without an argument at its place, `$N` stays as it is written."""
    return bool(
        item.arguments or item.argument_hint or "$ARGUMENTS" in item.body or isinstance(item, Command)
    )


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
    """Every hook in any file, in effect or not."""
    for hook in project.sources.hooks:
        yield Hooked(hook)
    for owner in bodies(project):
        for hook in owner.hooks:
            yield Hooked(hook, owner)


def servers(project: Project) -> Iterator[Server]:
    """Every server entry once, including those of agents.

    The `.mcp.json` of a plugin that is itself the project is read as the plugin's and as the project's.
    """
    plugins = {
        (server.origin.file, server.origin.field) for server in project.sources.servers if server.plugin
    }
    for server in project.sources.servers:
        if server.plugin or (server.origin.file, server.origin.field) not in plugins:
            yield server
    for agent in project.sources.agents:
        yield from agent.servers


def plugin_root(project: Project, name: str | None) -> str | None:
    return next((plugin.root for plugin in project.sources.plugins if plugin.name == name), None)


def top(item: Item) -> Origin:
    """The place of a finding about the whole item: the item's own, or the file's first line."""
    return item.origin if item.origin.span else item.origin.at(Span(1), item.origin.field)


def field(item: Item, name: str) -> Origin:
    """The place of a field, or the item's place when the field is missing."""
    return item.where(name) if name in item.spans else top(item)


def noun(item: object) -> str:
    """What a user calls this kind of item."""
    return "rule" if isinstance(item, Instruction) else type(item).__name__.lower()


def a_noun(item: object) -> str:
    word = noun(item)
    return f"an {word}" if word[0] in "aeiou" else f"a {word}"


def agent_names(project: Project) -> frozenset[str]:
    """Every agent in any file, even of disabled plugins, and the built-in ones."""
    return frozenset((*(agent.name for agent in project.sources.agents), *BUILTIN_AGENTS))


def skill_names(project: Project) -> frozenset[str]:
    """Every skill and command in any file."""
    return frozenset(item.name for item in invocables(project))


def names_agent(name: str, known: frozenset[str], plugin: str | None) -> bool:
    """True where `name` is an agent; a plugin may name an agent of any plugin without its prefix."""
    return name in known or (plugin is not None and any(other.endswith(f":{name}") for other in known))
