"""Items that compete for a name: skills, commands, agents."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from checkrein.base.origin import Scope
from checkrein.facts import claude
from checkrein.model.items import Agent, Command, Item, Plugin, Server, Skill
from checkrein.model.project import Candidate, Place, Resolved
from checkrein.model.recipe import Recipe

T = TypeVar("T", bound=Item)
Reason = Callable[[T, T], str]

SKILL_ORDER: Mapping[Scope, int] = {
    "managed": 0,
    "user": 1,
    "project": 2,
    "local": 2,
    "cli": 2,
    "plugin": 3,
    "bundled": 4,
}
_AGENT_ORDER: Mapping[Scope, int] = {
    "managed": 0,
    "cli": 1,
    "project": 2,
    "local": 2,
    "user": 3,
    "plugin": 4,
    "bundled": 5,
}
# The standard's own order: the project's skill is nearer than the user's.
STANDARD_ORDER: Mapping[Scope, int] = {**SKILL_ORDER, "user": 2, "project": 1, "local": 1, "cli": 1}

_OWNER: dict[Scope, str] = {
    "managed": "the managed",
    "cli": "the command line's",
    "local": "the local",
    "project": "the project's",
    "user": "the user's",
    "plugin": "the plugin's",
    "bundled": "the bundled",
}
_NOUN: dict[type[Item], str] = {
    Skill: "skill",
    Command: "command",
    Agent: "agent",
    Server: "server",
    Plugin: "plugin",
    Recipe: "recipe",
}


def by_name(items: Iterable[T], rank: Callable[[T], int], why: Reason[T]) -> dict[str, Resolved[T]]:
    """Each name with its winner; ties go to the item that was found first."""
    groups: dict[str, list[T]] = {}
    for item in items:
        groups.setdefault(item.name, []).append(item)
    resolved: dict[str, Resolved[T]] = {}
    for name, group in groups.items():
        if len(group) == 1:
            resolved[name] = Resolved(name, group[0], (Candidate(group[0]),))
            continue
        group.sort(key=rank)
        winner = group[0]
        losers = (Candidate(item, why(winner, item)) for item in group[1:])
        resolved[name] = Resolved(name, winner, (Candidate(winner), *losers))
    return resolved


def skills(
    items: Iterable[Skill], place: Place, order: Mapping[Scope, int] = SKILL_ORDER
) -> dict[str, Resolved[Skill]]:
    synced = os.path.join(place.config_dir, "skills", claude.SYNCED_SKILLS) + os.sep

    def rank(skill: Skill) -> int:
        if skill.origin.scope == "user" and skill.directory.lower().startswith(synced.lower()):
            return len(order)
        return order[skill.origin.scope]

    def why(winner: Skill, loser: Skill) -> str:
        if rank(loser) == len(order):
            return "a synced skill gives way to any other of its name"
        return scope_reason(winner, loser)

    return by_name(items, rank, why)


def commands(items: Iterable[Command]) -> dict[str, Resolved[Command]]:
    return by_name(items, lambda command: SKILL_ORDER[command.origin.scope], scope_reason)


def agents(items: Iterable[Agent]) -> dict[str, Resolved[Agent]]:
    return by_name(items, lambda agent: _AGENT_ORDER[agent.origin.scope], scope_reason)


def recipes(items: Iterable[Recipe]) -> dict[str, Resolved[Recipe]]:
    """The project's recipe is nearer than one that Checkrein brings."""
    return by_name(items, lambda recipe: STANDARD_ORDER[recipe.origin.scope], scope_reason)


def plugins(items: Iterable[Plugin]) -> dict[str, Resolved[Plugin]]:
    """Plugins by their identity `name@marketplace`; the first one found has it."""
    resolved: dict[str, Resolved[Plugin]] = {}
    for plugin in items:
        identity = plugin.identity
        first = resolved.get(identity)
        if first is None:
            resolved[identity] = Resolved(identity, plugin, (Candidate(plugin),))
        else:
            lost = Candidate(plugin, f"{first.item.origin.file} has this identity already")
            resolved[identity] = Resolved(identity, first.item, (*first.candidates, lost))
    return resolved


def scope_reason(winner: Item, loser: Item) -> str:
    """A sentence such as "the user's skill of the same name wins over the project's"."""
    noun = _NOUN.get(type(loser), "item")
    mine, theirs = winner.origin.scope, loser.origin.scope
    if mine != theirs:
        return f"{_OWNER[mine]} {noun} of the same name wins over {_OWNER[theirs]}"
    if (
        f"{os.sep}.checkrein{os.sep}" in loser.origin.file
        and f"{os.sep}{claude.CONFIG_DIR}{os.sep}" in winner.origin.file
    ):
        return f"{winner.origin.file} wins, because every agent reads it"
    if _config_dir(winner.origin.file) == _config_dir(loser.origin.file):
        return f"two {noun}s of one directory have this name; the first by path, {winner.origin.file}, wins"
    return f"{winner.origin.file} is nearer to the working directory and wins"


def _config_dir(path: str) -> str:
    head, found, _ = path.rpartition(os.sep + claude.CONFIG_DIR + os.sep)
    return head if found else os.path.dirname(path)
