"""Makes a Conversation from a project, a model and options: the only place where the parts of a session meet.

`open_root` opens what a tree of conversations shares and the conversation at its root; `open_child` makes
another one below it. Both furnish it in the same way.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.ids import short_id
from checkrein.base.origin import Origin
from checkrein.llm.port import Model
from checkrein.model.project import Project
from checkrein.model.view import View
from checkrein.passes.tools import added_tools
from checkrein.runtime.call.bench import Bench, plain
from checkrein.runtime.call.bound_commands import BoundCommands
from checkrein.runtime.call.gate import Gate
from checkrein.runtime.call.host import ToolHost
from checkrein.runtime.call.offer import Offer, offered_segments, skill_listing
from checkrein.runtime.call.permissions import Permissions
from checkrein.runtime.call.read_denials import ReadDenials
from checkrein.runtime.call.toolset import ToolSet, ToolView
from checkrein.runtime.context.instructions import InstructionWatch
from checkrein.runtime.context.lazy import LazyContext
from checkrein.runtime.context.prompt import Prompt
from checkrein.runtime.context.withheld import shown, withheld
from checkrein.runtime.hooks.ports import Ports, RunAgent
from checkrein.runtime.memory.headlines import index_of
from checkrein.runtime.memory.writes import memory_keeper
from checkrein.runtime.process.confinement import confinement
from checkrein.runtime.process.layers import layers_here
from checkrein.runtime.process.spawner import Spawner
from checkrein.runtime.secrets.keeper import Kept, keep
from checkrein.runtime.session.backdrop import Backdrop
from checkrein.runtime.session.budget import Meter
from checkrein.runtime.session.configured import configured
from checkrein.runtime.session.control import Control
from checkrein.runtime.session.conversation import Child, Conversation, Link, Seat, Start
from checkrein.runtime.session.ground import Ground, lay_ground
from checkrein.runtime.session.hookset import hook_runner, skill_hooks
from checkrein.runtime.session.models import Models
from checkrein.runtime.session.opened import Opened, checkpoints_dir, env_file, results_dir
from checkrein.runtime.session.options import Options
from checkrein.runtime.session.quota import quota
from checkrein.runtime.session.record import Record
from checkrein.runtime.session.rights import child_situation, children_env, session_situation, settings_env
from checkrein.runtime.session.services import Services
from checkrein.runtime.session.state import State
from checkrein.runtime.skills import usage
from checkrein.runtime.skills.active import ActiveSkills
from checkrein.runtime.skills.effects import Effects
from checkrein.runtime.skills.invoker import Invoker
from checkrein.runtime.skills.kit import SkillKit
from checkrein.runtime.skills.shelf import Shelf
from checkrein.runtime.store.checkpoints import Checkpoints
from checkrein.runtime.tools.catalog import builtin_tools
from checkrein.runtime.tools.desk import ToolState
from checkrein.runtime.tools.port import AnyTool
from checkrein.runtime.turn.aside import Asides

if TYPE_CHECKING:
    from os import PathLike

    from checkrein.llm.cancel import Cancel
    from checkrein.policy.auto import Classifier
    from checkrein.runtime.process.binder import Binder


class Asked(NamedTuple):
    """What the caller wants of a session."""

    project: Project | View | str | PathLike[str]
    model: Model | str | None
    options: Options
    tools: tuple[AnyTool, ...]
    env: dict[str, str] | None


def open_root(asked: Asked, control: Control, run_agent: RunAgent) -> Conversation:
    """`Conversation.close` and `Services.close` close everything that this opens. When a step fails, this
    closes it at once."""
    options = asked.options
    ground = lay_ground(asked.project, asked.model, options, asked.env)
    with ExitStack() as undo:
        undo.callback(ground.writer.close)
        kept = keep(ground.env, settings_env(ground.project)[0], ground.place, saved=options.persist)
        spawner = undo.enter_context(Spawner(ground.trust.trusts, kept.withheld))
        services = _services(ground, spawner, kept, asked.tools)
        undo.callback(services.close)
        seat = Seat(
            view=ground.view,
            options=options,
            control=control,
            state=ground.state,
            meter=Meter(quota(options.budget, ground.place, ground.env)),
        )
        start = Start(opened=ground.opened, model=ground.model, memory=ground.memory, notes=ground.notes)
        conversation = _furnish(services, seat, start, None, run_agent)
        _keep(ground, asked.model, conversation.gate)
        undo.pop_all()
    return conversation


def open_child(parent: Conversation, asked: Child, run_agent: RunAgent) -> Conversation:
    """A conversation below another: what binds the parent binds it; its transcript is beside the parent's."""
    services, options = parent.services, asked.options
    chosen = parent.models.own if asked.model is None else services.choose(asked.model)
    link = Link(agent_id=short_id("a"), kind=asked.kind, call=asked.call, agent_type=asked.agent_type)
    above = parent.link.agent_id if parent.link is not None else None
    writer = parent.recorder.writer.subagent(link.agent_id, call=link.call, parent_agent=above)
    seat = Seat(
        view=asked.view.under(parent.view),
        options=options,
        control=parent.control.below(),
        state=State(chosen[1]),
        meter=Meter(options.budget, parent.meter),
        link=link,
    )
    try:
        return _furnish(services, seat, Start(opened=Opened(writer=writer), model=chosen), parent, run_agent)
    except BaseException:
        writer.close()
        raise


def _services(ground: Ground, spawner: Spawner, kept: Kept, tools: tuple[AnyTool, ...]) -> Services:
    added = added_tools(ground.place.root)
    confined, unconfined = confinement(ground.project, wanted=ground.options.sandbox)
    child_env, refused_env = children_env(ground, kept.withheld)
    services = Services(
        env=ground.env,
        child_env=child_env,
        project=ground.whole,
        trust=ground.trust,
        choose=ground.choose,
        spawner=spawner,
        tools=ToolSet((*builtin_tools(), *added.tools, *tools)),
        confinement=confined,
        layers=layers_here(ground.env),
        make_binder=lambda: _binder(ground),
        results=results_dir(ground.writer),
        env_file=env_file(ground.writer),
        kept=kept,
        skipped=(*ground.trust.skipped, *_links(ground.whole), *unconfined, *refused_env, *added.problems),
    )
    if ground.env.get("CHECKREIN_TELEMETRY__OTEL"):
        from checkrein.runtime.session.telemetry import is_wanted, telemetry

        services.telemetry = telemetry(ground.env) if is_wanted(ground.env) else None
    return services


def _binder(ground: Ground) -> Binder:
    from checkrein.runtime.process.binder import Binder, host_lists
    from checkrein.runtime.process.protected import ProtectedFiles
    from checkrein.runtime.process.sandbox import sandbox_settings

    place = ground.place
    roots = (place.cwd, *place.add_dirs)
    settings = sandbox_settings({name: one.value for name, one in ground.project.settings.items()})
    protected = ProtectedFiles(roots, os.path.join(results_dir(ground.writer), "restored"))
    return Binder(roots, ground.env, protected=protected, lists=host_lists(settings))


def _links(project: Project) -> Iterator[Diagnostic]:
    """Links that were not followed. Rules and hooks may be missing for it, so a session says so."""
    return (finding for finding in project.sources.diagnostics if finding.code == "FILE009")


def _furnish(
    services: Services, seat: Seat, start: Start, parent: Conversation | None, run_agent: RunAgent
) -> Conversation:
    place, state = seat.view.project.place, seat.state
    models = Models(services.choose, start.model, seat.options.fallback_models)
    asides = Asides(services.choose, start.model, seat.meter)
    record = Record(start.opened, parent.record.checkpoints if parent else _checkpoints(seat, start))
    gate = _gate(services, seat, start, asides, parent)
    denial = ReadDenials(gate)
    view, left_out = shown(seat.view, denial)
    seat = replace(seat, view=view)
    ports = Ports(
        ask_model=asides.ask_model,
        run_agent=run_agent,
        call_tool=lambda *call: _server_call(services, host, *call),
    )
    commands = BoundCommands(services.spawner, services.binder, gate)
    hooks = hook_runner(services, seat, start.opened, gate, commands, ports, parent.hooks if parent else None)
    desk = ToolState(
        (place.cwd, *place.add_dirs),
        cwd=parent.desk.cwd if parent else None,
        storage=None if parent else services.results,
        before_change=record.checkpoints.before_change,
        keeps_cwd=parent is None,
    )
    bench = Bench(
        place=place,
        session_id=start.opened.writer.session_id,
        results=services.results,
        env=services.child_env,
        env_file=services.env_file,
        spawner=services.spawner,
        state=desk,
        control=seat.control,
        asides=asides,
        commands=commands,
        setting=lambda name: configured(place, services.env, name),
        sandbox=services.confinement.policy,
        vault=services.kept.vault,
        exposure=services.kept.exposure,
        around=memory_keeper(start.memory) if start.memory is not None else plain,
    )
    if parent is None and seat.view.servers and not seat.options.bare:
        from checkrein.runtime.session.joined_servers import join_servers

        services.servers = join_servers(services, seat, commands, hooks, desk)
    permissions = Permissions(gate, hooks, seat.view.project, allow_bypass=seat.options.allow_bypass)
    host = ToolHost(gate, hooks, record.recorder, bench, permissions)
    skills = _skills(services, seat, start, host)
    above = parent.offer if parent else None
    missing = services.servers.missing if services.servers is not None else str
    offer = Offer(seat.view, seat.options, services.env, models.name, host, above, missing)
    host.offer(ToolView(services.tools, lambda tools: offer.box(tools, skills, state.keep_output)))
    listing = skill_listing(seat.view, seat.options, services.env, models.name)
    memory = start.memory
    if memory is not None and (denied := denial(index_of(memory))) is not None:
        left_out += (withheld(Origin(index_of(memory), "user"), index_of(memory), denied),)
        memory = None
    if parent is None:
        services.skipped += (*left_out, *listing.diagnostics(seat.view))
    lazy = LazyContext(seat.view, skills.shelf, denial)
    if state.messages:
        _restore(start.opened, state, skills, lazy)
    segments = offered_segments(host.tools, listing)
    prompt = Prompt(seat.view, seat.options, models.name, segments, memory, denial)
    watched = parent is None and not seat.options.bare
    instructions = (
        InstructionWatch(
            prompt,
            place,
            services.env,
            lambda path: gate.decide("Read", {"file_path": path}, place.cwd).verdict,
            resumed=bool(state.messages),
        )
        if watched
        else None
    )
    backdrop = Backdrop(prompt, lazy, state.resumed_key, start.notes, instructions)
    return Conversation(services, seat, host, offer, models, record, backdrop, skills)


def _checkpoints(seat: Seat, start: Start) -> Checkpoints:
    directory = checkpoints_dir(start.opened.writer, seat.view.project)
    return Checkpoints(directory, seat.state.checkpoints)


def _server_call(services: Services, host: ToolHost, server: str, tool: str, *call: Any) -> str:
    from checkrein.runtime.call.hooked import tool_of_server

    if services.servers is not None:
        services.servers.wait(server, call[1])
        host.view.look_ahead()
        host.gate.know(host.tools.registry)
    return tool_of_server(host, server, tool, *call)


def _gate(services: Services, seat: Seat, start: Start, asides: Asides, parent: Conversation | None) -> Gate:
    state = seat.state

    def classifier(cancel: Cancel) -> Classifier:
        from checkrein.runtime.call.classifier import ModelClassifier

        return ModelClassifier(asides.ask_model, state.messages, cancel)

    if parent is None:
        situation = session_situation(services, seat.options, start)
    else:
        situation = child_situation(parent.gate, seat.options)
    return Gate(
        situation,
        seat.control,
        classifier=classifier,
        above=parent.gate if parent else None,
    )


def _skills(services: Services, seat: Seat, start: Start, host: ToolHost) -> SkillKit:
    state, writer, env = seat.state, start.opened.writer, services.env
    active, shelf = ActiveSkills(), Shelf(seat.view, services.trust.trusts, ReadDenials(host.gate))
    effects = Effects(
        host.gate,
        state,
        active,
        skill_hooks(seat, host.hooks),
        lambda: host.tools.names(),
        lambda: bool(configured(seat.view.project.place, env, "skills.strict_tools")),
        lambda name: usage.note(name, env),
        lambda names: writer.state(skill_hooks=list(names)),
    )
    invoker = Invoker(
        shelf,
        host,
        lambda: state.turn_effort or seat.options.effort,
        effects.apply,
        services.trust.trusts,
    )
    return SkillKit(shelf, active, effects, invoker)


def _restore(opened: Opened, state: State, skills: SkillKit, lazy: LazyContext) -> None:
    """Bring back what the conversation of a continued session had brought in."""
    skills.active.restore(state.messages)
    lazy.restore(state.messages)
    loaded = dict.fromkeys((*opened.skill_hooks, *skills.active.names))
    skills.effects.restore(item for item in map(skills.shelf.find, loaded) if item is not None)


def _keep(ground: Ground, model: Model | str | None, gate: Gate) -> None:
    """Record what the caller chose, for a later session that continues this one."""
    chosen = {"model": model} if isinstance(model, str) else {}
    if ground.options.mode is not None:
        chosen["mode"] = gate.mode
    if chosen:
        ground.writer.state(**chosen)
