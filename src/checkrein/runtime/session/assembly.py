"""Makes a Conversation from a project, a model and options: the only place where the parts of a session meet.

`open_root` opens what a tree of conversations shares and the conversation at its root; `open_child` makes
another one below it. Both furnish it in the same way.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.ids import short_id
from checkrein.base.origin import Origin
from checkrein.facts.subagents import AGENT_TOOL
from checkrein.llm.port import Model
from checkrein.model.project import Project
from checkrein.model.view import View
from checkrein.passes.tools import added_tools
from checkrein.runtime.call.bench import Bench, plain
from checkrein.runtime.call.bound_commands import BoundCommands
from checkrein.runtime.call.gate import Gate
from checkrein.runtime.call.host import ToolHost
from checkrein.runtime.call.offer import Offer, Supply, offered_segments, skill_listing
from checkrein.runtime.call.permissions import Permissions
from checkrein.runtime.call.read_denials import ReadDenials
from checkrein.runtime.call.toolset import Toolbox, ToolSet, ToolView
from checkrein.runtime.context.instructions import InstructionWatch
from checkrein.runtime.context.lazy import LazyContext
from checkrein.runtime.context.prompt import Prompt
from checkrein.runtime.context.withheld import shown, withheld
from checkrein.runtime.hooks.ports import Ports, RunAgent
from checkrein.runtime.memory.headlines import index_of
from checkrein.runtime.memory.writes import memory_keeper
from checkrein.runtime.process.confinement import confinement
from checkrein.runtime.process.environment import settings_env
from checkrein.runtime.process.layers import Layers, layers_here
from checkrein.runtime.process.spawner import Spawner
from checkrein.runtime.secrets.keeper import Kept, keep
from checkrein.runtime.session.backdrop import Backdrop
from checkrein.runtime.session.budget import Meter
from checkrein.runtime.session.configured import configured
from checkrein.runtime.session.control import Control
from checkrein.runtime.session.conversation import Child, Conversation, Link, Seat, Start
from checkrein.runtime.session.ground import Ground, lay_ground
from checkrein.runtime.session.hookset import as_subagent, hook_runner, skill_hooks
from checkrein.runtime.session.models import Models
from checkrein.runtime.session.opened import Opened, checkpoints_dir, env_file, results_dir
from checkrein.runtime.session.options import Options
from checkrein.runtime.session.own_servers import NONE, servers_of_session
from checkrein.runtime.session.quota import quota
from checkrein.runtime.session.record import Record
from checkrein.runtime.session.rights import bash_env, child_situation, children_env, session_situation
from checkrein.runtime.session.services import Services
from checkrein.runtime.session.skillset import bring_back, skill_kit
from checkrein.runtime.session.state import State
from checkrein.runtime.store.checkpoints import Checkpoints
from checkrein.runtime.timers.late_jobs import OFF_ENV, LateJobs
from checkrein.runtime.tools.catalog import builtin_tools
from checkrein.runtime.tools.desk import ToolState
from checkrein.runtime.tools.port import AnyTool
from checkrein.runtime.turn.aside import Asides

if TYPE_CHECKING:
    from os import PathLike

    from checkrein.llm.cancel import Cancel
    from checkrein.policy.auto import Classifier
    from checkrein.runtime.process.binder import Binder
    from checkrein.runtime.tools.port import Moves


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
    ground = lay_ground(asked.project, asked.model, asked.options, asked.env)
    options = ground.options
    with ExitStack() as undo:
        undo.callback(ground.writer.close)
        kept = keep(ground.env, settings_env(ground.project)[0], ground.place, saved=options.persist)
        layers = layers_here(ground.env)
        spawner = undo.enter_context(Spawner(ground.trust.trusts, kept.withheld, compiled=layers.compiled))
        services = _services(ground, spawner, layers, kept, asked.tools)
        undo.callback(services.close)
        role = ground.role
        brought = role.servers if role else ()
        seat = Seat(
            view=ground.view,
            options=options,
            control=control,
            state=ground.state,
            meter=Meter(quota(options.budget, ground.place, ground.env)),
            own_servers=NONE if options.bare else servers_of_session(ground.view, options.agent, brought),
        )
        conversation = _furnish(services, seat, ground.start, None, run_agent)
        if ground.role is not None:
            ground.role.begin(conversation, skill_hooks(seat, conversation.hooks))
        if options.prompt_tool is not None and control.asker is None:
            from checkrein.runtime.session.prompt_asker import prompt_asker

            control.asker = prompt_asker(conversation, options.prompt_tool)
        _keep(ground, asked.model, conversation.gate)
        undo.pop_all()
    return conversation


def open_child(parent: Conversation, asked: Child, run_agent: RunAgent) -> Conversation:
    """A conversation below another: what binds the parent binds it; its transcript is beside the parent's."""
    services, options = parent.services, asked.options
    chosen = parent.models.own if asked.model is None else services.choose(asked.model)
    link = Link(
        agent_id=asked.agent_id or short_id("a"),
        kind=asked.kind,
        call=asked.call,
        agent_type=asked.agent_type,
        depth=1 + (parent.link.depth if parent.link is not None else 0),
        fork=asked.fork,
    )
    state = State(chosen[1])
    state.messages = list(asked.messages)
    above = parent.link.agent_id if parent.link is not None else None
    writer = parent.recorder.writer.subagent(link.agent_id, call=link.call, parent_agent=above)
    view, situation = asked.view.under(parent.view_below), None
    if asked.confine is not None:
        situation = asked.confine(child_situation(parent.gate, options, asked.memory))
        view = _moved(view, situation.root)
    seat = Seat(
        view=view,
        options=options,
        control=parent.control.below(),
        state=state,
        meter=Meter(options.budget, parent.meter, link.agent_id),
        link=link,
        above=parent,
        own_servers=NONE if options.bare else asked.servers,
    )
    try:
        start = Start(
            opened=Opened(writer=writer),
            model=chosen,
            lean=asked.lean,
            situation=situation,
            fork=asked.fork,
            memory=asked.memory.path if asked.memory is not None else None,
            own_memory=asked.memory,
        )
        conversation = _furnish(services, seat, start, parent, run_agent)
        skill_hooks(seat, conversation.hooks)(as_subagent(asked.hooks))
        return conversation
    except BaseException:
        writer.close()
        raise


def _services(
    ground: Ground, spawner: Spawner, layers: Layers, kept: Kept, tools: tuple[AnyTool, ...]
) -> Services:
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
        layers=layers,
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


def _may_have_style(project: Project) -> bool:
    return bool(project.plugins or project.setting("outputStyle"))


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
    record = Record(
        start.opened, parent.record.checkpoints if parent else _checkpoints(seat, start, services.env)
    )
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
        cwd=parent.desk.cwd if parent and start.situation is None else None,
        storage=None if parent else services.results,
        before_change=record.checkpoints.before_change,
        keeps_cwd=parent is None,
    )
    if parent is None and services.env.get(OFF_ENV) not in ("1", "true"):
        desk.jobs = LateJobs(
            lambda jobs: start.opened.writer.state(jobs=jobs),
            lambda jobs: seat.control.wakes.join(jobs, idle=True),
            start.opened.jobs,
        )
    bench = Bench(
        place=place,
        session_id=start.opened.writer.session_id,
        results=services.results,
        env=bash_env(services.child_env, seat.view.project),
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
        moves=(lambda: _moves(services, host)) if parent is None else None,
    )
    if seat.own_servers.items:
        from checkrein.runtime.session.joined_servers import join_servers

        services = join_servers(services, seat, commands, hooks, desk, parent)
    permissions = Permissions(
        gate,
        hooks,
        seat.view.project,
        allow_bypass=seat.options.allow_bypass,
        above=parent.host.permissions if parent else None,
        tell=seat.control.wakes.tell,
    )
    host = ToolHost(gate, hooks, record.recorder, bench, permissions)
    skills = skill_kit(services, seat, start.opened, host)
    supply = Supply(
        env=services.env,
        missing=lambda: services.servers.missing() if services.servers is not None else "",
        trusts=services.trust.trusts,
        owns=services.tools.owns if parent and seat.own_servers.items else lambda name: False,
    )
    offer = Offer(seat.view, seat.options, supply, models.name, host, parent.offer if parent else None)
    same = parent.host.tools if parent is not None and start.fork else None

    def box(tools: Iterable[AnyTool]) -> Toolbox:
        own = offer.box(tools, skills, state.keep_output)
        return own if same is None else same.replaced(own)

    host.offer(ToolView(services.tools, box))
    listing = skill_listing(seat.view, seat.options, services.env, models.name)
    memory = start.memory
    if memory is not None and (denied := denial(index_of(memory))) is not None:
        left_out += (withheld(Origin(index_of(memory), "user"), index_of(memory), denied),)
        memory = None
    if parent is None:
        services.skipped += (*left_out, *listing.diagnostics(seat.view))
    lazy = LazyContext(seat.view, skills.shelf, denial)
    if state.messages:
        bring_back(start.opened, state, skills, lazy)
    agents = offer.agents if host.tools.get(AGENT_TOOL) is not None else {}
    segments = offered_segments(host.tools, listing, agents)
    if parent is not None and start.fork:
        prompt = parent.backdrop.prompt
    else:
        style = None
        if parent is None and not seat.options.bare and _may_have_style(seat.view.project):
            from checkrein.runtime.context.styles import style_segment

            style = style_segment(seat.view.project)
        prompt = Prompt(
            seat.view, seat.options, models.name, segments, memory, denial, lean=start.lean, style=style
        )
    watched = parent is None and not seat.options.bare and not start.lean
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


def _moved(view: View, cwd: str) -> View:
    """The same view of the project, from another directory."""
    project = view.project
    return replace(view, project=replace(project, place=replace(project.place, cwd=cwd)))


def _moves(services: Services, host: ToolHost) -> Moves:
    if services.moves is None:
        from checkrein.runtime.worktrees.moves import SessionMoves

        services.moves = SessionMoves(services, host)
    return services.moves


def _checkpoints(seat: Seat, start: Start, env: Mapping[str, str]) -> Checkpoints:
    directory = checkpoints_dir(start.opened.writer, seat.view.project, env)
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

        above = parent.lineage() if parent is not None else ()
        return ModelClassifier(asides.ask_model, state.messages, cancel, above=above)

    if parent is None:
        situation = session_situation(services, seat.options, start)
    else:
        situation = start.situation or child_situation(parent.gate, seat.options, start.own_memory)
    return Gate(
        situation,
        seat.control,
        classifier=classifier,
        above=parent.gate if parent else None,
    )


def _keep(ground: Ground, model: Model | str | None, gate: Gate) -> None:
    """Record what the caller chose, for a later session that continues this one."""
    chosen = {"model": model} if isinstance(model, str) else {}
    if ground.options.mode is not None:
        chosen["mode"] = gate.mode
    if ground.options.worktree is not None:
        chosen["worktree"] = ground.options.worktree
    if chosen:
        ground.writer.state(**chosen)
