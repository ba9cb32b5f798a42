"""From a project, a model and options to an Engine: the only place where the parts of a session meet."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from checkrein.llm.port import Cancel, Model
from checkrein.model.project import Project
from checkrein.model.view import View
from checkrein.runtime.call.classifier import ModelClassifier
from checkrein.runtime.call.gate import Gate
from checkrein.runtime.call.host import Caller, MakeContext
from checkrein.runtime.call.offer import all_tools, offered_segments, own_tools, skill_listing
from checkrein.runtime.context.lazy import LazyContext
from checkrein.runtime.context.prompt import Prompt
from checkrein.runtime.hooks.moment import Firing
from checkrein.runtime.process.confinement import confinement
from checkrein.runtime.process.sandbox import SandboxPolicy
from checkrein.runtime.process.spawner import Spawner
from checkrein.runtime.session.control import Control
from checkrein.runtime.session.engine import Engine
from checkrein.runtime.session.events import Event
from checkrein.runtime.session.ground import Ground, lay_ground
from checkrein.runtime.session.hookset import make_firing, objection, skill_hooks
from checkrein.runtime.session.opened import checkpoints_dir, env_file
from checkrein.runtime.session.options import Options
from checkrein.runtime.session.rights import children_env, placed, session_situation
from checkrein.runtime.skills import usage
from checkrein.runtime.skills.active import ActiveSkills
from checkrein.runtime.skills.effects import Effects, strict_tools
from checkrein.runtime.skills.invoker import Invoker
from checkrein.runtime.skills.shelf import Shelf
from checkrein.runtime.store.checkpoints import Checkpoints
from checkrein.runtime.store.recorder import Recorder
from checkrein.runtime.tools.desk import ToolState
from checkrein.runtime.tools.port import ToolContext
from checkrein.runtime.tools.validate import coerce
from checkrein.runtime.turn.aside import Asides

if TYPE_CHECKING:
    from os import PathLike


def assemble(
    project: Project | View | str | PathLike[str],
    model: Model | str | None,
    options: Options,
    control: Control,
    env: dict[str, str] | None,
) -> Engine:
    ground = lay_ground(project, model, options, env)
    place, state, trust = ground.place, ground.state, ground.trust
    recorder = Recorder(ground.writer)
    spawner = Spawner(trust.trusts)
    asides = Asides(ground.choose, ground.model, ground.meter)
    confined, unconfined = confinement(ground.project, wanted=options.sandbox)
    gate = Gate(
        session_situation(ground, confined),
        control,
        classifier=ModelClassifier(asides.ask_model, lambda: state.messages),
    )
    checkpoints = Checkpoints(checkpoints_dir(ground.writer, ground.project), state.checkpoints)
    tools = ToolState(
        (place.cwd, *place.add_dirs), storage=ground.results, before_change=checkpoints.before_change
    )
    child_env, refused_env = children_env(ground)
    firing = make_firing(ground, gate, spawner, child_env, asides)
    control.attach_hooks(firing.runner.add_callback)
    make_context = _context_maker(
        ground, control, gate, tools, spawner, child_env, confined.policy, firing, asides
    )
    box = own_tools(ground, gate)
    skills, shelf = ActiveSkills(), Shelf(ground.view, trust.trusts)
    effects = Effects(
        gate,
        state,
        skills,
        skill_hooks(ground, firing),
        lambda: box.names(),
        lambda: strict_tools(place, ground.env),
        lambda name: usage.note(name, ground.env),
        lambda names: ground.writer.state(skill_hooks=list(names)),
    )
    invoker = Invoker(
        shelf,
        gate,
        box,
        make_context,
        lambda: tools.cwd,
        ground.writer.session_id,
        lambda: state.turn_effort or options.effort,
        effects.apply,
        trust.trusts,
    )
    box = all_tools(ground, gate, box, invoker, skills)
    lazy = LazyContext(ground.view, shelf)
    if state.messages:
        skills.restore(state.messages)
        lazy.restore(state.messages)
        loaded = dict.fromkeys((*ground.opened.skill_hooks, *skills.names))
        effects.restore(item for item in map(shelf.find, loaded) if item is not None)
    _keep(ground, model, gate)
    listing = skill_listing(ground)
    return Engine(
        view=ground.view,
        options=options,
        control=control,
        env=ground.env,
        choose=ground.choose,
        model=ground.model,
        state=state,
        prompt=Prompt(ground.view, options, ground.model[1], offered_segments(box, listing), ground.memory),
        toolbox=box,
        gate=gate,
        caller=Caller(
            box, gate, firing, recorder, make_context, coerce, placed(place.cwd), lambda: tools.cwd
        ),
        firing=firing,
        recorder=recorder,
        meter=ground.meter,
        spawner=spawner,
        skills=skills,
        invoker=invoker,
        lazy=lazy,
        tools=tools,
        checkpoints=checkpoints,
        source=ground.opened.source,
        title=ground.opened.title,
        notes=ground.notes,
        skipped=(*trust.skipped, *unconfined, *refused_env, *listing.diagnostics(ground.view)),
    )


def _keep(ground: Ground, model: Model | str | None, gate: Gate) -> None:
    """Write down what the caller chose, for a session that goes on from this one."""
    chosen = {"model": model} if isinstance(model, str) else {}
    if ground.options.mode is not None:
        chosen["mode"] = gate.mode
    if chosen:
        ground.writer.state(**chosen)


def _context_maker(
    ground: Ground,
    control: Control,
    gate: Gate,
    tools: ToolState,
    spawner: Spawner,
    env: dict[str, str],
    sandbox: SandboxPolicy | None,
    firing: Firing,
    asides: Asides,
) -> MakeContext:
    """What a call gets: where it works, what was approved for it, and the session's services."""
    file = env_file(ground.writer)

    def make(
        call_id: str,
        cancel: Cancel,
        emit: Callable[[Event], None],
        paths: tuple[str, ...],
        hosts: tuple[str, ...],
    ) -> ToolContext:
        return ToolContext(
            call_id=call_id,
            cwd=tools.cwd,
            root=ground.place.cwd,
            home=ground.place.home,
            add_dirs=ground.place.add_dirs,
            results_dir=ground.results,
            session_id=ground.writer.session_id,
            env=_with_file(env, file),
            spawner=spawner,
            state=tools,
            cancel=cancel,
            emit=emit,
            approved_paths=paths,
            approved_hosts=hosts,
            may_read=lambda path: gate.decide("Read", {"file_path": path}, tools.cwd).verdict != "deny",
            ask_user=getattr(control.asker, "answer", None),
            sandbox=sandbox,
            outside=gate.runs_outside,
            objection=lambda *task: objection(firing, emit, cancel, *task),
            only_asks_git=lambda command: gate.only_asks_git(command, tools.cwd),
            ask_model=lambda system, text: asides.ask_model(text, None, cancel, system),
            set_mode=control.set_mode,
        )

    return make


def _with_file(env: dict[str, str], file: str) -> dict[str, str]:
    """With what hooks want set for every command, once they wrote it down."""
    return {**env, "CLAUDE_ENV_FILE": file} if os.path.isfile(file) else env
