"""The start of a session: notices about what it does not use, and the first hooks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from checkrein.base.diagnostic import Diagnostic
from checkrein.runtime.context.reminders import memory_type, quoted
from checkrein.runtime.hooks import payloads
from checkrein.runtime.hooks.outcome import HookOutcome
from checkrein.runtime.session.events import Event, LoadedPlugin, Notice, SessionStarted
from checkrein.runtime.turn.builtin_commands import COMMANDS as BUILTIN_COMMANDS
from checkrein.runtime.turn.news import watch

if TYPE_CHECKING:
    from checkrein.model.project import Project
    from checkrein.model.view import View
    from checkrein.runtime.session.conversation import Conversation

_PROGRAMS = frozenset({"print", "sdk"})
"""Kinds of sessions whose first message a hook may write: no person types it."""


def await_servers(conversation: Conversation, *, first: bool) -> None:
    """Take up the tools of the MCP servers before a turn. Before the `first`, start those that its request
    needs."""
    servers = conversation.own_servers
    if servers is not None and (not first or servers.begin_awaited(conversation.control.cancel)):
        conversation.host.view.look_ahead(first=first)
        conversation.gate.know(conversation.host.tools.registry)


def started(conversation: Conversation) -> SessionStarted:
    """What a session has as it begins."""
    view = conversation.view
    return SessionStarted(
        session_id=conversation.session_id,
        cwd=view.project.place.cwd,
        model=conversation.state.model,
        mode=conversation.gate.mode,
        tools=conversation.host.tools.names(),
        commands=_commands(conversation),
        skills=tuple(n for n, s in view.skills.items() if s.model_invocable),
        agents=tuple(conversation.offer.agents),
        servers=conversation.services.server_states(),
        plugins=plugins(view.project),
        layers=conversation.services.layers.all,
        output_style=conversation.backdrop.prompt.style or _style(view),
        betas=conversation.options.betas,
        trusted=conversation.services.trust.status.trusted,
        skipped=conversation.services.skipped,
        source=conversation.record.opened.source,
    )


def plugins(project: Project) -> tuple[LoadedPlugin, ...]:
    """The plugins that are on."""
    on = ((name, one.item) for name, one in project.plugins.items() if one.item.enabled)
    return tuple(LoadedPlugin(item.name, item.root, name, item.version) for name, item in on)


def _style(view: View) -> str:
    if not view.project.plugins and not view.project.setting("outputStyle"):
        return "default"
    from checkrein.runtime.context.styles import chosen

    return chosen(view.project)


def _commands(conversation: Conversation) -> tuple[str, ...]:
    if not conversation.options.commands:
        return ()
    return tuple(dict.fromkeys((*_own_commands(conversation.view), *BUILTIN_COMMANDS)))


def _own_commands(view: View) -> Iterator[str]:
    return (name for name, one in (view.commands | view.skills).items() if one.user_invocable)


def start(conversation: Conversation) -> Iterator[Event]:
    """Runs once, before the first prompt. Text from hooks for the model waits in `opening_context`."""
    yield from _skipped(conversation.services.skipped)
    yield from (Notice("info", note) for note in conversation.backdrop.notes)
    _say_what_ended(conversation)
    _say_what_was_missed(conversation)
    _go_back(conversation)
    yield from _set_up(conversation)
    yield from _instructions_loaded(conversation)
    yield from _run_start_hooks(conversation)
    yield from _preload(conversation)
    if conversation.own_servers is not None:
        yield from conversation.look_at_tools()


def _skipped(found: Sequence[Diagnostic]) -> Iterator[Notice]:
    """The unused parts of the project, one line for each reason. The result lists them all."""
    untrusted = [finding for finding in found if finding.code == "TRUST001"]
    if untrusted:
        text = f"{len(untrusted)} thing(s) of this project do not count, because it is not trusted."
        yield Notice("warning", f"{text} Look at them, then run `checkrein trust`.")
    for finding in found:
        if finding.code != "TRUST001":
            yield Notice("warning", f"{finding.origin}: {finding.message}")


def _say_what_ended(conversation: Conversation) -> None:
    """The commands in the background of a resumed session ended with the process that ran them."""
    gone = conversation.record.opened.background
    if gone:
        conversation.backdrop.opening_context.append(
            f"These background commands ended when the session was left: {', '.join(gone)}."
        )
        conversation.recorder.writer.state(background={})


def _say_what_was_missed(conversation: Conversation) -> None:
    """The prompts that were due while a resumed session was left do not run."""
    jobs, masked = conversation.desk.jobs, conversation.services.kept.vault.masked
    conversation.backdrop.opening_context += [
        quoted(masked(f"A prompt was due on {job.when}, while the session was left: {job.words}"))
        for job in (jobs.missed if jobs is not None else ())
    ]


def _go_back(conversation: Conversation) -> None:
    """A resumed session goes back into the worktree that it had entered."""
    entered, moves = conversation.record.opened.worktree, conversation.host.bench.moves
    if entered is not None and moves is not None:
        path, made = entered
        said = moves().restore(path, made=made, cancel=conversation.control.cancel)
        conversation.backdrop.opening_context.append(said)


def _set_up(conversation: Conversation) -> Iterator[Event]:
    """Run the Setup hooks if the caller asked for them."""
    trigger = conversation.options.setup
    if trigger is None:
        return
    outcome = yield from conversation.hooks.fire(
        payloads.setup(conversation.hooks.common, trigger), conversation.control.cancel
    )
    _open_with(conversation, outcome)
    yield from (Notice("warning", error) for error in outcome.errors)


def _instructions_loaded(conversation: Conversation) -> Iterator[Event]:
    """Tell the hooks about each instruction file in the context at the start."""
    if conversation.options.bare or not conversation.hooks.has("InstructionsLoaded"):
        return
    for item in conversation.view.project.instructions:
        if item.lazy:
            continue
        payload = payloads.instructions_loaded(
            conversation.hooks.common,
            item.name,
            memory_type(item.origin.scope),
            "include" if item.imported_by else "session_start",
            parent_file_path=item.imported_by,
        )
        yield from conversation.hooks.fire(payload, conversation.control.cancel)


def _run_start_hooks(conversation: Conversation) -> Iterator[Event]:
    """Run the SessionStart hooks. They may change the title, watched files, skills and the first message."""
    payload = payloads.session_start(
        conversation.hooks.common,
        conversation.record.opened.source,
        model=conversation.state.model,
        session_title=conversation.record.opened.title,
    )
    outcome = yield from conversation.hooks.fire(payload, conversation.control.cancel)
    _open_with(conversation, outcome)
    if outcome.session_title:
        conversation.recorder.writer.title(outcome.session_title)
    watch(conversation, outcome.watch_paths)
    if outcome.reload_skills and not conversation.options.bare:
        reload_skills(conversation)
    if outcome.initial_user_message and conversation.options.kind in _PROGRAMS:
        conversation.backdrop.initial_message = outcome.initial_user_message
    yield from (Notice("warning", error) for error in outcome.errors)
    yield from (Notice("info", message) for message in outcome.system_messages)


def _preload(conversation: Conversation) -> Iterator[Event]:
    """Load the skills of the agent that the session is. One that goes on has them already."""
    names = conversation.backdrop.first_skills
    if not names or conversation.state.messages:
        return
    from checkrein.runtime.skills.preload import preload
    from checkrein.runtime.tools.port import Aside

    events: list[Event] = []
    preload(conversation, names, Aside(conversation.control.cancel, events.append))
    yield from events


def reload_skills(conversation: Conversation) -> None:
    """Load the skills and commands that hooks or the host wrote, before the first prompt."""
    from checkrein.runtime.skills.renewal import SkillFiles, renew

    news = renew(conversation.skills.invoker.shelf, SkillFiles(conversation.view.project.place))
    if news:
        conversation.backdrop.opening_context.append(news)


def _open_with(conversation: Conversation, outcome: HookOutcome) -> None:
    """What hooks say before the first prompt."""
    masked = conversation.services.kept.vault.masked
    conversation.backdrop.opening_context += [masked(one.text) for one in outcome.additional_context]
