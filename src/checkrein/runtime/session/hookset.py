"""The hooks of a session, with what they need of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from checkrein.llm.port import Cancel
from checkrein.model.items import Hook, Plugin
from checkrein.model.project import Project
from checkrein.runtime.call.gate import Gate
from checkrein.runtime.hooks import payloads_calls
from checkrein.runtime.hooks.moment import Firing
from checkrein.runtime.hooks.payloads import Common
from checkrein.runtime.process.environment import hook_env
from checkrein.runtime.process.spawner import Spawner
from checkrein.runtime.session.events import Event
from checkrein.runtime.session.ground import Ground
from checkrein.runtime.session.opened import env_file
from checkrein.runtime.turn.aside import Asides

if TYPE_CHECKING:
    from checkrein.runtime.hooks.ports import PluginPlace
    from checkrein.runtime.hooks.runner import HookRunner


def make_firing(ground: Ground, gate: Gate, spawner: Spawner, env: dict[str, str], asides: Asides) -> Firing:
    """Where the session's events go to its hooks. `env` is what children get."""
    firing = Firing(
        Common(
            session_id=ground.writer.session_id,
            transcript_path=str(ground.writer.path),
            cwd=ground.place.cwd,
            permission_mode=gate.mode,
            effort=ground.options.effort,
        )
    )
    firing.attach(_runner(ground, gate, spawner, env, asides, firing))
    return firing


def _runner(
    ground: Ground, gate: Gate, spawner: Spawner, env: dict[str, str], asides: Asides, firing: Firing
) -> HookRunner:
    from checkrein.runtime.hooks.conditions import rule_matcher
    from checkrein.runtime.hooks.ports import Ports, Surroundings
    from checkrein.runtime.hooks.runner import HookRunner
    from checkrein.runtime.skills.invoke import enabled_plugins

    project, view = ground.project, ground.view
    around = Surroundings(
        project_dir=project.place.cwd,
        session_id=ground.writer.session_id,
        env=hook_env(env),
        results_dir=ground.results,
        env_file=env_file(ground.writer),
        plugins={plugin.name: _plugin_place(plugin, project) for plugin in enabled_plugins(project)},
    )
    ports = Ports(
        ask_model=asides.ask_model,
        run_agent=lambda prompt, model, cancel: asides.run_agent(view, prompt, model, cancel),
        rule_matches=rule_matcher(lambda: gate.context(firing.common.cwd)),
        allowed_urls=_texts(project.setting("allowedHttpHookUrls")),
        allowed_env=_texts(project.setting("httpHookAllowedEnvVars")),
    )
    wanted = ground.options.hooks and not ground.options.bare
    return HookRunner(
        project.hooks if wanted else (),
        spawner=spawner,
        around=around,
        ports=ports,
        emit=firing.emit,
        spent=ground.opened.spent_hooks,
        on_spent=lambda hooks: ground.writer.state(spent_hooks=sorted(hooks)),
    )


def _plugin_place(plugin: Plugin, project: Project) -> PluginPlace:
    """Where a plugin's hooks find its files and data, and the options that are no secrets."""
    from checkrein.runtime.hooks.ports import PluginPlace
    from checkrein.runtime.skills.invoke import OPTION, plugin_variables

    values = plugin_variables(plugin, project)
    options = {name.removeprefix(OPTION): value for name, value in values.items() if name.startswith(OPTION)}
    return PluginPlace(plugin.root, values["CLAUDE_PLUGIN_DATA"], options)


def skill_hooks(ground: Ground, firing: Firing) -> Callable[[Sequence[Hook]], None]:
    """Takes in the hooks of skills that are invoked, as far as the settings leave any."""
    options, setting = ground.options, ground.project.setting
    unwanted = not options.hooks or options.bare
    managed_only = setting("disableAllHooks") is True or setting("allowManagedHooksOnly") is True

    def add(hooks: Sequence[Hook]) -> None:
        if not unwanted:
            firing.runner.add(hook for hook in hooks if not managed_only or hook.origin.scope == "managed")

    return add


def _texts(value: Any) -> tuple[str, ...] | None:
    return tuple(str(item) for item in value) if isinstance(value, list) else None


def objection(
    firing: Firing,
    emit: Callable[[Event], None],
    cancel: Cancel,
    event: str,
    task_id: str,
    subject: str,
    description: str,
) -> str | None:
    """What the hooks have against the beginning or the end of a task."""
    make = payloads_calls.task_created if event == "TaskCreated" else payloads_calls.task_completed
    payload = make(firing.common, task_id, subject, task_description=description or None)
    outcome = firing.fire(payload, emit, cancel)
    return (outcome.reason or "no reason given") if outcome.blocked else None
