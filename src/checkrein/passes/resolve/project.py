"""`resolve`: a total function from source items to a Project."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from checkrein.dialects.claude import memory_excludes
from checkrein.facts import agent_skills
from checkrein.model.items import AnyItem, Command, Hook, Instruction, Plugin, Server, Skill
from checkrein.model.project import Candidate, Detection, Effective, Place, Project, Resolved, Sources
from checkrein.model.rule import Rule
from checkrein.passes.resolve import names
from checkrein.passes.resolve.settings import merge

_AGENTS_MD = "Claude Code does not read AGENTS.md; import it from CLAUDE.md with `@AGENTS.md`"


def resolve(
    place: Place, sources: Sources, detection: Detection, env: Mapping[str, str] | None = None
) -> Project:
    """`env` is the environment that the program started with; None means that of this process."""
    settings = merge(sources.settings)
    off: list[Candidate[AnyItem]] = []
    locked = _plugin_only(settings)
    disabled: dict[str, list[Plugin]] = {}
    for plugin in sources.plugins:
        if not plugin.enabled:
            disabled.setdefault(plugin.name, []).append(plugin)
    standard = "agent_skills_std" in (detection.dialect, *detection.contributors)

    def refusal(item: Any, surface: str) -> str | None:
        if item.origin.scope == "plugin":
            off_here = any(_is_of(item, plugin) for plugin in disabled.get(item.plugin, ()))
            return f"the plugin `{item.plugin}` is not enabled" if off_here else None
        if surface in locked and item.origin.scope not in ("managed", "bundled"):
            return f"`strictPluginOnlyCustomization` allows only {surface} of plugins and managed directories"
        if surface == "skills" and not standard and f"/{agent_skills.SKILLS_DIR}/" in item.origin.file:
            return f"Claude Code does not read `{agent_skills.SKILLS_DIR}`"
        return None

    def kept(items: Iterable[Any], surface: str) -> list[Any]:
        """Items that no lock, disabled plugin or foreign directory removes."""
        active = []
        for item in items:
            reason = refusal(item, surface)
            if reason is None:
                active.append(item)
            else:
                off.append(Candidate(item, reason))
        return active

    order = names.STANDARD_ORDER if detection.dialect == "agent_skills_std" else names.SKILL_ORDER
    skills = names.skills(_without_bundled(kept(sources.skills, "skills"), settings, off), place, order)
    commands = names.commands(_behind_skills(kept(sources.commands, "skills"), skills, off))
    servers: dict[str, Resolved[Server]] = {}
    of_agents = [server for agent in sources.agents for server in agent.servers]
    if sources.servers or of_agents:
        from checkrein.passes.resolve.server_lists import Surroundings
        from checkrein.passes.resolve.servers import Refusals, in_effect

        refusals = Refusals(
            settings,
            Surroundings(
                env=os.environ if env is None else env,
                root=place.root,
                plugin_roots={plugin.name: plugin.root for plugin in sources.plugins},
            ),
            switched_off=sources.switched_off,
            managed_only=place.managed_servers,
        )
        servers, servers_off = in_effect(kept(sources.servers, "mcp"), refusals)
        off.extend(Candidate(candidate.item, candidate.lost) for candidate in servers_off)
        for server in of_agents:
            reason = refusal(server, "mcp") or refusals.of(server)
            if reason is not None:
                off.append(Candidate(server, reason))
    return Project(
        place=place,
        detection=detection,
        skills=skills,
        commands=commands,
        agents=names.agents(kept(sources.agents, "agents")),
        servers=servers,
        plugins=names.plugins(sources.plugins),
        recipes=names.recipes(one for one in sources.recipes if not one.is_sub_recipe),
        sub_recipes=names.recipes(one for one in sources.recipes if one.is_sub_recipe),
        hooks=tuple(_hooks(kept(sources.hooks, "hooks"), settings, off)),
        rules=tuple(_rules(sources.rules, settings, off)),
        instructions=tuple(_instructions(sources.instructions, settings, off)),
        settings=settings,
        inactive=tuple(off),
        sources=sources,
        diagnostics=sources.diagnostics,
    )


def _is_of(item: Any, plugin: Plugin) -> bool:
    return bool(item.origin.file.startswith(plugin.root + os.sep))


def _value(settings: Mapping[str, Effective], key: str) -> Any:
    found = settings.get(key)
    return None if found is None else found.value


def _plugin_only(settings: Mapping[str, Effective]) -> frozenset[str]:
    value = _value(settings, "strictPluginOnlyCustomization")
    if value is True:
        return frozenset({"skills", "agents", "hooks", "mcp"})
    if isinstance(value, list):
        return frozenset(item for item in value if isinstance(item, str))
    if isinstance(value, dict):
        return frozenset(key for key, locked in value.items() if locked is True)
    return frozenset()


def _without_bundled(
    items: Iterable[Skill], settings: Mapping[str, Effective], off: list[Candidate[AnyItem]]
) -> Iterable[Skill]:
    if _value(settings, "disableBundledSkills") is not True:
        return items
    active = []
    for skill in items:
        if skill.origin.scope == "bundled" and skill.name != "doctor":
            off.append(Candidate(skill, "`disableBundledSkills` is set"))
        else:
            active.append(skill)
    return active


def _behind_skills(
    items: Iterable[Command], skills: Mapping[str, Resolved[Skill]], off: list[Candidate[AnyItem]]
) -> Iterable[Command]:
    """Commands whose name no skill has."""
    active = []
    for command in items:
        skill = skills.get(command.name)
        if skill is None:
            active.append(command)
        else:
            off.append(Candidate(command, f"the skill of the same name wins ({skill.item.origin.file})"))
    return active


def _hooks(
    items: Sequence[Hook], settings: Mapping[str, Effective], off: list[Candidate[AnyItem]]
) -> Iterable[Hook]:
    managed_only = _value(settings, "allowManagedHooksOnly") is True
    disabled = settings.get("disableAllHooks")
    all_off = disabled is not None and disabled.value is True
    by_managed = disabled is not None and any(
        not candidate.lost and candidate.item.origin.scope == "managed" for candidate in disabled.candidates
    )
    seen: dict[object, Hook] = {}
    for hook in items:
        managed = hook.origin.scope == "managed"
        if all_off and (by_managed or not managed):
            off.append(Candidate(hook, "`disableAllHooks` is set"))
        elif managed_only and not managed:
            off.append(Candidate(hook, "`allowManagedHooksOnly` is set"))
        elif hook.plugin is None and _handler(hook) in seen:
            first = seen[_handler(hook)]
            off.append(Candidate(hook, f"the same handler is in {first.origin}; it runs once"))
        else:
            seen.setdefault(_handler(hook), hook)
            yield hook


def _handler(hook: Hook) -> object:
    """What makes two handlers the same: everything but their place."""
    place = ("origin", "spans", "plugin")
    return repr([getattr(hook, field) for field in hook.__struct_fields__ if field not in place])


def _rules(
    items: Sequence[Rule], settings: Mapping[str, Effective], off: list[Candidate[AnyItem]]
) -> Iterable[Rule]:
    """Other allow rules are off; rules that take something away always count."""
    managed_only = _value(settings, "allowManagedPermissionRulesOnly") is True
    for rule in items:
        if managed_only and rule.origin.scope != "managed" and rule.verdict == "allow":
            off.append(Candidate(rule, "`allowManagedPermissionRulesOnly` is set"))
        else:
            yield rule


def _instructions(
    items: Sequence[Instruction], settings: Mapping[str, Effective], off: list[Candidate[AnyItem]]
) -> Iterable[Instruction]:
    patterns = _value(settings, "claudeMdExcludes")
    listed = [p for p in patterns if isinstance(p, str)] if isinstance(patterns, list) else []
    excluded = memory_excludes.matcher(listed)
    for item in items:
        if item.kind == "agents_md":
            off.append(Candidate(item, _AGENTS_MD))
        elif item.origin.scope != "managed" and excluded(item.name):
            off.append(Candidate(item, "`claudeMdExcludes` names it"))
        else:
            yield item
