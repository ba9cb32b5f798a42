"""The hooks of a conversation, and what they need from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from checkrein.facts.models import DEFAULT_EFFORT
from checkrein.model.items import Hook, Plugin
from checkrein.model.project import Project
from checkrein.runtime.call.bound_commands import BoundCommands
from checkrein.runtime.call.gate import Gate
from checkrein.runtime.hooks.conditions import rule_matcher
from checkrein.runtime.hooks.handlers import Doer
from checkrein.runtime.hooks.payloads import Common
from checkrein.runtime.hooks.ports import PluginPlace, Ports, Surroundings
from checkrein.runtime.hooks.registry import HookRegistry
from checkrein.runtime.hooks.runner import HookRunner
from checkrein.runtime.process.environment import hook_env
from checkrein.runtime.session.conversation import Seat
from checkrein.runtime.session.opened import Opened
from checkrein.runtime.session.services import Services


def hook_runner(
    services: Services,
    seat: Seat,
    opened: Opened,
    gate: Gate,
    commands: BoundCommands,
    ports: Ports,
    above: HookRunner | None,
) -> HookRunner:
    """At the root of a tree the project's hooks; below it the parent's."""
    project, link, writer = seat.view.project, seat.link, opened.writer
    common = Common(
        session_id=writer.session_id,
        transcript_path=str(writer.path),
        cwd=project.place.cwd,
        permission_mode=gate.mode,
        effort=seat.options.effort or DEFAULT_EFFORT,
        agent_id=link.agent_id if link else None,
        agent_type=link.agent_type if link else seat.options.agent,
    )
    ports = replace(
        ports,
        rule_matches=rule_matcher(lambda: gate.context(runner.common.cwd)),
        allowed_urls=_texts(project.setting("allowedHttpHookUrls")),
        allowed_env=_texts(project.setting("httpHookAllowedEnvVars")),
    )
    registry = _registry(services, seat, opened, above)
    around = _around(services, seat, opened)
    doer = Doer(commands, around, ports, above.doer if above is not None else None, registry.owns)
    calls_only = link is not None and link.kind == "helper"
    runner = HookRunner(registry, doer, common, calls_only=calls_only)
    seat.control.attach_hooks(runner.registry.add_callback)
    return runner


def _registry(services: Services, seat: Seat, opened: Opened, above: HookRunner | None) -> HookRegistry:
    if above is not None:
        return HookRegistry(above=above.registry)
    wanted = seat.options.hooks and not seat.options.bare
    return HookRegistry(
        seat.view.project.hooks if wanted else (),
        spent=opened.spent_hooks,
        on_spent=lambda hooks: opened.writer.state(spent_hooks=sorted(hooks)),
    )


def _around(services: Services, seat: Seat, opened: Opened) -> Surroundings:
    project = seat.view.project
    return Surroundings(
        project_dir=project.place.cwd,
        session_id=opened.writer.session_id,
        env=hook_env(services.child_env),
        results_dir=services.results,
        env_file=services.env_file,
        plugins=_plugin_places(project, services.env) if project.plugins else {},
    )


def _plugin_places(project: Project, env: Mapping[str, str]) -> dict[str, PluginPlace]:
    from checkrein.runtime.plugins.plugin_options import enabled_plugins

    return {plugin.name: _plugin_place(plugin, project, env) for plugin in enabled_plugins(project)}


def _plugin_place(plugin: Plugin, project: Project, env: Mapping[str, str]) -> PluginPlace:
    """Where a plugin's hooks find its files and data, and the user's values for its options."""
    from checkrein.runtime.plugins.plugin_options import OPTION, plugin_variables, secret_options

    values = plugin_variables(plugin, project, secrets=secret_options(plugin, env))
    options = {name.removeprefix(OPTION): value for name, value in values.items() if name.startswith(OPTION)}
    return PluginPlace(plugin.root, values["CLAUDE_PLUGIN_DATA"], options)


def skill_hooks(seat: Seat, hooks: HookRunner) -> Callable[[Sequence[Hook]], None]:
    """Adds the hooks of invoked skills, where the settings allow them."""
    options, setting = seat.options, seat.view.project.setting
    unwanted = not options.hooks or options.bare
    managed_only = setting("disableAllHooks") is True or setting("allowManagedHooksOnly") is True

    def add(found: Sequence[Hook]) -> None:
        if not unwanted:
            hooks.registry.add(hook for hook in found if not managed_only or hook.origin.scope == "managed")

    return add


def as_subagent(hooks: Sequence[Hook]) -> list[Hook]:
    """The hooks of an agent's definition. Its end is that of a subagent."""
    return [replace(hook, name="SubagentStop") if hook.name == "Stop" else hook for hook in hooks]


def _texts(value: Any) -> tuple[str, ...] | None:
    return tuple(str(item) for item in value) if isinstance(value, list) else None
