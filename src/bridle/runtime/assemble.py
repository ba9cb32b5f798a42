"""From a project, a model and options to an Engine: the only place where the parts of a session meet."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from bridle.base.diagnostic import Diagnostic
from bridle.base.origin import BUNDLED, COMMAND_LINE, Origin
from bridle.facts.models import find_model
from bridle.llm.port import Cancel, Model
from bridle.model.project import Project
from bridle.model.rule import Rule, parse_rule
from bridle.model.view import View
from bridle.policy.effects import Use
from bridle.policy.policy import Policy
from bridle.policy.project import policy_of
from bridle.policy.tools import Tool as DecidedTool
from bridle.policy.tools import Tools
from bridle.policy.tools import builtin_tools as decided_tools
from bridle.policy.values import MODES, Mode
from bridle.runtime.asides import Asides
from bridle.runtime.budget import Meter
from bridle.runtime.call import Caller
from bridle.runtime.checkpoints.files import Checkpoints
from bridle.runtime.choosing import chooser, name_of
from bridle.runtime.classifier import ModelClassifier
from bridle.runtime.confining import confinement
from bridle.runtime.context import toolsearch
from bridle.runtime.context.lazy import LazyContext
from bridle.runtime.context.prompt import Prompt
from bridle.runtime.context.segments import Segment
from bridle.runtime.context.toolsearch import ToolSearch
from bridle.runtime.control import Control
from bridle.runtime.engine import Engine
from bridle.runtime.environment import child_env, hook_env
from bridle.runtime.events import Event
from bridle.runtime.firing import Firing
from bridle.runtime.gate import Gate
from bridle.runtime.hooks import payloads_calls
from bridle.runtime.hooks.payloads import Common
from bridle.runtime.memory.place import memory_dir
from bridle.runtime.memory.tool import memory_rules, with_memory
from bridle.runtime.opening import checkpoints_dir, env_file, open_session, results_dir
from bridle.runtime.options import Options
from bridle.runtime.recorder import Recorder
from bridle.runtime.sessions import SessionWriter
from bridle.runtime.skills import usage
from bridle.runtime.skills.active import ActiveSkills
from bridle.runtime.skills.effects import Effects, strict_tools
from bridle.runtime.skills.invoker import Invoker
from bridle.runtime.skills.listing import Listing, make_listing
from bridle.runtime.skills.shelf import Shelf
from bridle.runtime.skills.tool import SkillTool
from bridle.runtime.spawn import Spawner
from bridle.runtime.state import State
from bridle.runtime.toolbox import Toolbox
from bridle.runtime.tools.catalog import builtin_tools
from bridle.runtime.tools.port import ToolContext
from bridle.runtime.tools.state import ToolState
from bridle.runtime.tools.structured import NAME as STRUCTURED_OUTPUT
from bridle.runtime.tools.validate import coerce
from bridle.runtime.trust import Standing, standing

if TYPE_CHECKING:
    from os import PathLike

    from bridle.runtime.hooks.runner import HookRunner


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
    view = replace(view, project=trust.project)
    place = view.project.place
    choose = chooser(view.project, environment)
    chosen = choose(model) if isinstance(model, str) or model is None else (model, name_of(model))
    if options.record is not None:
        from bridle.llm.record import RecordingModel

        chosen = (RecordingModel(chosen[0], options.record), chosen[1])
    state = State(chosen[1])
    writer, source = open_session(options, place, state)
    recorder = Recorder(writer)
    spawner = Spawner(trust.trusts)
    meter = Meter(options.budget)
    asides = Asides(choose, chosen, meter)
    memory = None if options.bare else memory_dir(view.project, environment)
    gate = Gate(
        _policy(view.project, options, results_dir(writer), memory),
        control,
        root=place.cwd,
        home=place.home,
        add_dirs=place.add_dirs,
        trusted=trust.trusted,
        classifier=ModelClassifier(asides.ask_model, lambda: state.messages),
    )
    checkpoints = Checkpoints(checkpoints_dir(writer, view.project), state.checkpoints)
    tools = ToolState(
        (place.cwd, *place.add_dirs), storage=results_dir(writer), before_change=checkpoints.before_change
    )
    sandbox, unconfined = confinement(view.project, wanted=options.sandbox)
    own_env, project_env = _settings_env(view.project)
    children_env, refused = child_env({**environment, **own_env}, project_env, trust.approved_env)
    firing = Firing(
        Common(
            session_id=writer.session_id,
            transcript_path=str(writer.path),
            cwd=place.cwd,
            permission_mode=gate.mode,
            effort=options.effort,
        )
    )
    runner = _hook_runner(view, options, trust, spawner, writer, children_env, firing, gate, asides)
    control.attach_hooks(runner.add_callback)
    firing.attach(runner)

    def make_context(
        call_id: str,
        cancel: Cancel,
        emit: Callable[[Event], None],
        paths: tuple[str, ...],
        hosts: tuple[str, ...],
    ) -> ToolContext:
        return ToolContext(
            call_id=call_id,
            cwd=tools.cwd,
            root=place.cwd,
            home=place.home,
            add_dirs=place.add_dirs,
            results_dir=results_dir(writer),
            session_id=writer.session_id,
            env=_with_file(children_env, env_file(writer)),
            spawner=spawner,
            state=tools,
            cancel=cancel,
            emit=emit,
            approved_paths=paths,
            approved_hosts=hosts,
            may_read=lambda path: gate.decide("Read", {"file_path": path}, tools.cwd).verdict != "deny",
            ask_user=getattr(control.asker, "answer", None),
            sandbox=sandbox,
            objection=lambda *task: _objection(firing, emit, cancel, *task),
            only_asks_git=lambda command: gate.only_asks_git(command, tools.cwd),
            ask_model=lambda system, text: asides.ask_model(text, None, cancel, system),
            set_mode=control.set_mode,
        )

    skills = ActiveSkills()
    effects = Effects(
        gate,
        state,
        skills,
        runner.add,
        lambda: box.names(),
        lambda: strict_tools(place, environment),
        lambda name: usage.note(name, environment),
    )
    shelf = Shelf(view, trust.trusts)
    box = _toolbox(view, options, gate, environment, chosen[1])
    invoker = Invoker(
        shelf,
        gate,
        box,
        make_context,
        lambda: tools.cwd,
        writer.session_id,
        lambda: state.turn_effort or options.effort,
        effects.apply,
        trust.trusts,
    )
    listing = _listing(view, chosen[1], environment) if not options.bare else Listing("", ())
    if _offers_skills(view, options) and gate.decide("Skill", {}, place.cwd).offered:
        box = box.with_tools(SkillTool(invoker, skills))
    if options.schema is not None:
        from bridle.runtime.tools.structured import StructuredOutput

        box = box.with_tools(StructuredOutput(options.schema, state.keep_output))
    if memory is not None:
        box = with_memory(box, memory)
    if box.deferred and not options.bare:
        box = box.with_tools(ToolSearch(lambda: box))
    caller = Caller(box, gate, firing, recorder, make_context, coerce, _placed(place.cwd), lambda: tools.cwd)
    lazy = LazyContext(view, shelf)
    if state.messages:
        skills.restore(state.messages)
        lazy.restore(state.messages)
    extra = [Segment("session", "skills", listing.text, pinned=True)] if listing.text else []
    waiting = toolsearch.listing(box)
    extra += [waiting] if waiting is not None else []
    return Engine(
        view=view,
        options=options,
        control=control,
        env=environment,
        choose=choose,
        model=chosen,
        state=state,
        prompt=Prompt(view, options, chosen[1], extra, memory),
        toolbox=box,
        gate=gate,
        caller=caller,
        firing=firing,
        recorder=recorder,
        meter=meter,
        spawner=spawner,
        skills=skills,
        invoker=invoker,
        lazy=lazy,
        tools=tools,
        checkpoints=checkpoints,
        source=source,
        skipped=(
            *trust.skipped,
            *unconfined,
            *_refused_env(refused, view.project),
            *listing.diagnostics(view),
        ),
    )


def _with_file(env: dict[str, str], file: str) -> dict[str, str]:
    """With what hooks want set for every command, once they wrote it down."""
    return {**env, "CLAUDE_ENV_FILE": file} if os.path.isfile(file) else env


def _objection(
    firing: Firing,
    emit: Callable[[Event], None],
    cancel: Cancel,
    event: str,
    task_id: str,
    subject: str,
    description: str,
) -> str | None:
    make = payloads_calls.task_created if event == "TaskCreated" else payloads_calls.task_completed
    payload = make(firing.common, task_id, subject, task_description=description or None)
    outcome = firing.fire(payload, emit, cancel)
    return (outcome.reason or "no reason given") if outcome.blocked else None


def _view(project: Project | View | str | PathLike[str], env: dict[str, str]) -> View:
    if isinstance(project, View):
        return project
    if isinstance(project, Project):
        return View(project)
    from bridle.passes.load import load

    return View(load(project, env=env, detect=False))


def _policy(project: Project, options: Options, results: str, memory: str | None) -> Policy:
    """The project's policy, the caller's rules, and leave to read what was too large for the context."""
    origin = Origin(COMMAND_LINE, "cli")
    cwd = project.place.cwd
    extra: list[Rule] = [parse_rule(text, "allow", origin, anchor=cwd) for text in options.allowed]
    extra += [parse_rule(text, "deny", origin, anchor=cwd) for text in options.disallowed]
    extra.append(parse_rule(f"Read(/{results}/**)", "allow", Origin(BUNDLED, "bundled")))
    if memory is not None:
        extra += memory_rules(memory)
    mode: Mode | None = next((known for known in MODES if known == options.mode), None)
    return policy_of(project, rules=extra, mode=mode, tools=_known_tools())


def _known_tools() -> Tools:
    """The tools that decisions know: the built-in ones, and ours that do nothing but answer."""
    answers = DecidedTool(name=STRUCTURED_OUTPUT, effects=lambda _: (Use(STRUCTURED_OUTPUT),), free=True)
    return decided_tools().with_tool(answers)


def _toolbox(view: View, options: Options, gate: Gate, env: dict[str, str], model: str) -> Toolbox:
    """The built-in tools that the caller wants, the view shows and no rule takes away. Those that the caller
    names are all in the request."""
    tools = builtin_tools()
    box = Toolbox(tools, {alias: tool.name for tool in tools for alias in tool.aliases})
    if options.tools is not None and options.tools != ("default",):
        box = box.only(options.tools).all_upfront()
    cwd = view.project.place.cwd
    box = box.without(
        name for name in box.names() if not view.sees_tool(name) or not gate.decide(name, {}, cwd).offered
    )
    facts = find_model(model)
    return box if toolsearch.defers(env, box, facts.window if facts else None) else box.all_upfront()


def _offers_skills(view: View, options: Options) -> bool:
    """Whether skills can be loaded: also when none is listed yet, for a file that is read may bring one."""
    named = options.tools is None or options.tools == ("default",) or "Skill" in options.tools
    return named and not options.bare and view.skill_names != frozenset()


def _listing(view: View, model: str, env: dict[str, str]) -> Listing:
    facts = find_model(model)
    window = facts.window if facts else None
    return make_listing(view, window=window, env=env, used=lambda: usage.counts(env))


def _settings_env(project: Project) -> tuple[dict[str, str], dict[str, str]]:
    """The `env` of the settings: what the user's own files set, and what the project's files set."""
    own: dict[str, str] = {}
    theirs: dict[str, str] = {}
    for name, effective in project.settings.items():
        winner = next((one.item for one in effective.candidates if one.lost is None), None)
        if winner is not None and name.startswith("env."):
            target = theirs if winner.origin.scope in ("project", "local") else own
            target[name.removeprefix("env.")] = str(effective.value)
    return own, theirs


def _refused_env(names: tuple[str, ...], project: Project) -> tuple[Diagnostic, ...]:
    found = []
    for name in names:
        effective = project.settings.get(f"env.{name}")
        if effective is not None and effective.candidates:
            message = f"`{name}` was not set: a project may not set it without an approval of its own"
            found.append(Diagnostic("TRUST003", "warning", message, effective.candidates[0].item.origin))
    return tuple(found)


def _placed(cwd: str) -> Callable[[Origin], str]:
    def place(origin: Origin) -> str:
        file = os.path.relpath(origin.file, cwd) if os.path.isabs(origin.file) else origin.file
        shown = origin.file if file.startswith("..") else file
        return f"{shown}:{origin.line}" if origin.line else shown

    return place


def _hook_runner(
    view: View,
    options: Options,
    trust: Standing,
    spawner: Spawner,
    writer: SessionWriter,
    env: dict[str, str],
    firing: Firing,
    gate: Gate,
    asides: Asides,
) -> HookRunner:
    from bridle.runtime.conditions import rule_matcher
    from bridle.runtime.hooks.ports import PluginPlace, Ports, Surroundings
    from bridle.runtime.hooks.runner import HookRunner

    project = view.project
    around = Surroundings(
        project_dir=project.place.cwd,
        session_id=writer.session_id,
        env=hook_env(env),
        results_dir=results_dir(writer),
        env_file=env_file(writer),
        plugins={name: PluginPlace(found.item.root) for name, found in project.plugins.items()},
    )
    ports = Ports(
        ask_model=asides.ask_model,
        run_agent=lambda prompt, model, cancel: asides.run_agent(view, prompt, model, cancel),
        rule_matches=rule_matcher(lambda: gate.context(firing.common.cwd)),
        allowed_urls=_texts(project.setting("allowedHttpHookUrls")),
        allowed_env=_texts(project.setting("httpHookAllowedEnvVars")),
    )
    wanted = options.hooks and not options.bare
    return HookRunner(
        project.hooks if wanted else (),
        spawner=spawner,
        around=around,
        ports=ports,
        emit=firing.emit,
        skipped=trust.skipped_hooks if wanted else (),
    )


def _texts(value: Any) -> tuple[str, ...] | None:
    return tuple(str(item) for item in value) if isinstance(value, list) else None
