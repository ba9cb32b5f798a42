"""From a project, a model and options to an Engine: the only place where the parts of a session meet."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from bridle.base.diagnostic import Diagnostic
from bridle.base.origin import COMMAND_LINE, Origin
from bridle.llm.port import Cancel, Message, Model
from bridle.model.project import Project
from bridle.model.rule import Rule, parse_rule
from bridle.model.view import View
from bridle.policy.policy import Policy
from bridle.policy.project import policy_of
from bridle.policy.values import MODES, Mode
from bridle.runtime.budget import Meter
from bridle.runtime.call import Caller
from bridle.runtime.context.prompt import Prompt
from bridle.runtime.context.reminders import git_branch
from bridle.runtime.control import Control
from bridle.runtime.engine import Choose, Engine, Source
from bridle.runtime.environment import child_env
from bridle.runtime.events import Event
from bridle.runtime.firing import Firing
from bridle.runtime.gate import Gate
from bridle.runtime.hooks.payloads import Common
from bridle.runtime.options import Options
from bridle.runtime.recorder import Recorder
from bridle.runtime.sessions import SessionStore, SessionWriter
from bridle.runtime.spawn import Spawner
from bridle.runtime.state import State
from bridle.runtime.toolbox import Toolbox
from bridle.runtime.tools.catalog import builtin_tools
from bridle.runtime.tools.port import Tool, ToolContext
from bridle.runtime.tools.state import ToolState
from bridle.runtime.tools.validate import coerce
from bridle.runtime.trust import Standing, standing

if TYPE_CHECKING:
    from os import PathLike


def assemble(
    project: Project | View | str | PathLike[str],
    model: Model | str | None,
    options: Options,
    control: Control,
    env: dict[str, str] | None,
) -> Engine:
    environment = dict(os.environ) if env is None else env
    view = _view(project, environment)
    trust = standing(view.project, trusted=options.trust)
    view = View(
        trust.project,
        view.skill_names,
        view.command_names,
        view.agent_names,
        view.server_names,
        view.tool_names,
    )
    place = view.project.place
    choose = _chooser(view.project, environment)
    chosen = choose(model) if isinstance(model, str) or model is None else (model, _name_of(model))
    state = State(chosen[1])
    writer, source = _open_session(options, place.cwd, place.repo_root, state)
    recorder = Recorder(writer)
    meter = Meter(options.budget)
    spawner = Spawner(trust.trusts)
    gate = Gate(
        _policy(view.project, options),
        control,
        root=place.cwd,
        home=place.home,
        add_dirs=place.add_dirs,
        trusted=trust.trusted,
    )
    tool_state = ToolState((place.cwd, *place.add_dirs), storage=str(_results_dir(writer)))
    toolbox = _toolbox(view, options, gate, state)
    shell_environment, refused = child_env(environment, _project_env(view.project))
    firing = Firing(
        Common(
            session_id=writer.session_id,
            transcript_path=str(writer.path),
            cwd=place.cwd,
            permission_mode=gate.mode,
            effort=options.effort,
        )
    )
    firing.attach(_hook_runner(view.project, trust, spawner, writer, shell_environment, firing, gate))

    def make_context(
        call_id: str, cancel: Cancel, emit: Callable[[Event], None], paths: tuple[str, ...]
    ) -> ToolContext:
        return ToolContext(
            call_id=call_id,
            cwd=tool_state.cwd,
            root=place.cwd,
            home=place.home,
            add_dirs=place.add_dirs,
            results_dir=str(_results_dir(writer)),
            session_id=writer.session_id,
            env=shell_environment,
            spawner=spawner,
            state=tool_state,
            cancel=cancel,
            emit=emit,
            approved_paths=paths,
            set_mode=control.set_mode,
        )

    caller = Caller(
        toolbox, gate, firing, recorder, make_context, coerce, _placed(place.cwd), lambda: tool_state.cwd
    )
    return Engine(
        view=view,
        options=options,
        control=control,
        env=environment,
        choose=choose,
        model=chosen,
        state=state,
        prompt=Prompt(view, options, chosen[1]),
        toolbox=toolbox,
        gate=gate,
        caller=caller,
        firing=firing,
        recorder=recorder,
        meter=meter,
        spawner=spawner,
        source=source,
        skipped=(*trust.skipped, *_refused_env(refused, view.project)),
    )


def _view(project: Project | View | str | PathLike[str], env: dict[str, str]) -> View:
    if isinstance(project, View):
        return project
    if isinstance(project, Project):
        return View(project)
    from bridle.passes.load import load

    return View(load(project, env=env))


def _chooser(project: Project, env: dict[str, str]) -> Choose:
    def choose(spec: str | None) -> tuple[Model, str]:
        from pathlib import Path

        from bridle.base.config import load_config
        from bridle.base.home import bridle_home
        from bridle.facts.config import KEYS
        from bridle.llm.choose import ModelSettings
        from bridle.llm.choose import choose as find

        config = load_config(KEYS, Path(project.place.root), bridle_home(env), env)
        settings = ModelSettings(
            default=project.setting("model") or config.get("model.default"),
            base_url=config.get("model.base_url"),
            api_key=config.get("model.api_key"),
            idle_timeout=config.get("model.idle_timeout"),
        )
        chosen = find(None if spec == "default" else spec, settings, env)
        return chosen.model, chosen.name

    return choose


def _name_of(model: Model) -> str:
    return str(getattr(model, "name", None) or type(model).__name__)


def _open_session(
    options: Options, cwd: str, repo_root: str | None, state: State
) -> tuple[SessionWriter, Source]:
    store = SessionStore()
    branch = git_branch(repo_root)
    reference = options.resume
    if options.continue_ and reference is None:
        newest = store.latest(cwd)
        reference = newest.session_id if newest is not None else None
    if reference is None:
        if not options.persist:
            return store.unsaved(cwd, session_id=options.session_id), "startup"
        writer = store.create(cwd, session_id=options.session_id, kind=options.kind, git_branch=branch)
        if options.title:
            writer.title(options.title)
        return writer, "startup"
    source: Source = "resume"
    if options.fork:
        reference, source = (
            store.fork(reference, cwd, session_id=options.session_id, kind=options.kind),
            "fork",
        )
    conversation, writer = store.resume(reference, cwd, git_branch=branch)
    state.messages = [msgspec.convert(message, Message) for message in conversation.messages]
    return writer, source


def _policy(project: Project, options: Options) -> Policy:
    origin = Origin(COMMAND_LINE, "cli")
    extra: list[Rule] = [
        parse_rule(text, "allow", origin, anchor=project.place.cwd) for text in options.allowed
    ]
    extra += [parse_rule(text, "deny", origin, anchor=project.place.cwd) for text in options.disallowed]
    mode: Mode | None = options.mode if options.mode in MODES else None
    return policy_of(project, rules=extra, mode=mode)


def _toolbox(view: View, options: Options, gate: Gate, state: State) -> Toolbox:
    tools: tuple[Tool, ...] = builtin_tools()
    box = Toolbox(tools, {alias: tool.name for tool in builtin_tools() for alias in tool.aliases})
    if options.tools is not None and options.tools != ("default",):
        box = box.only(options.tools)
    cwd = view.project.place.cwd
    hidden = [
        name for name in box.names() if not view.sees_tool(name) or not gate.decide(name, {}, cwd).offered
    ]
    box = box.without(hidden)
    if options.schema is not None:
        from bridle.runtime.tools.structured import StructuredOutput

        box = box.with_tools(StructuredOutput(options.schema, lambda value: _keep(state, value)))
    return box


def _keep(state: State, value: Any) -> None:
    state.structured_output = value


def _results_dir(writer: SessionWriter) -> str:
    if not writer.saved:
        return str(writer.scratch())
    from bridle.runtime.sessions.layout import companion_dir

    return str(companion_dir(writer.path) / "tool-results")


def _project_env(project: Project) -> dict[str, str]:
    found = project.setting("env")
    return {str(k): str(v) for k, v in found.items()} if isinstance(found, dict) else {}


def _refused_env(names: tuple[str, ...], project: Project) -> tuple[Diagnostic, ...]:
    found = []
    for name in names:
        effective = project.settings.get(f"env.{name}")
        if effective is None or not effective.candidates:
            continue
        origin = effective.candidates[0].item.origin
        if origin.scope in ("project", "local"):
            message = f"`{name}` was not set: a project may not set it without an approval of its own"
            found.append(Diagnostic("TRUST003", "warning", message, origin))
    return tuple(found)


def _placed(cwd: str) -> Callable[[Origin], str]:
    def place(origin: Origin) -> str:
        file = os.path.relpath(origin.file, cwd) if os.path.isabs(origin.file) else origin.file
        shown = origin.file if file.startswith("..") else file
        return f"{shown}:{origin.line}" if origin.line else shown

    return place


def _hook_runner(
    project: Project,
    trust: Standing,
    spawner: Spawner,
    writer: SessionWriter,
    env: dict[str, str],
    firing: Firing,
    gate: Gate,
) -> Any:
    from bridle.runtime.environment import hook_env
    from bridle.runtime.hooks.enabled import enabled_hooks
    from bridle.runtime.hooks.ports import Ports, Surroundings
    from bridle.runtime.hooks.runner import HookRunner

    around = Surroundings(
        project_dir=project.place.cwd,
        session_id=writer.session_id,
        env=hook_env(env),
        results_dir=_results_dir(writer),
    )
    hooks, _ = enabled_hooks(project)
    return HookRunner(
        hooks,
        spawner=spawner,
        around=around,
        ports=Ports(),
        emit=firing.emit,
        skipped=trust.skipped_hooks,
    )
