"""The start of a session: notices about what it does not use, and the first hooks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from checkrein.base.diagnostic import Diagnostic
from checkrein.runtime.context.reminders import memory_type
from checkrein.runtime.hooks import payloads
from checkrein.runtime.hooks.outcome import HookOutcome
from checkrein.runtime.session.events import Event, Notice, SessionStarted
from checkrein.runtime.turn.news import watch

if TYPE_CHECKING:
    from checkrein.runtime.session.conversation import Conversation

_PROGRAMS = frozenset({"print", "sdk"})
"""Kinds of sessions whose first message a hook may write: no person types it."""


def await_servers(conversation: Conversation) -> None:
    """Start the MCP servers that the first request needs, and take up their tools."""
    servers = conversation.services.servers
    if servers is not None and servers.begin_awaited(conversation.control.cancel):
        conversation.host.view.look_ahead(first=True)
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
        commands=tuple(n for n, c in (view.commands | view.skills).items() if c.user_invocable),
        skills=tuple(n for n, s in view.skills.items() if s.model_invocable),
        agents=tuple(view.agents),
        servers=conversation.services.server_states(),
        plugins=tuple((n, r.item.root) for n, r in view.project.plugins.items() if r.item.enabled),
        layers=conversation.services.layers.all,
        source=conversation.record.opened.source,
    )


def start(conversation: Conversation) -> Iterator[Event]:
    """Runs once, before the first prompt. Text from hooks for the model waits in `opening_context`."""
    yield from _skipped(conversation.services.skipped)
    yield from (Notice("info", note) for note in conversation.backdrop.notes)
    _say_what_ended(conversation)
    yield from _set_up(conversation)
    yield from _instructions_loaded(conversation)
    yield from _run_start_hooks(conversation)
    if conversation.services.servers is not None:
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
        _reload_skills(conversation)
    if outcome.initial_user_message and conversation.options.kind in _PROGRAMS:
        conversation.backdrop.initial_message = outcome.initial_user_message
    yield from (Notice("warning", error) for error in outcome.errors)
    yield from (Notice("info", message) for message in outcome.system_messages)


def _reload_skills(conversation: Conversation) -> None:
    """Load the skills and commands that the hooks wrote, before the first prompt."""
    from checkrein.runtime.skills.renewal import SkillFiles, renew

    news = renew(conversation.skills.invoker.shelf, SkillFiles(conversation.view.project.place))
    if news:
        conversation.backdrop.opening_context.append(news)


def _open_with(conversation: Conversation, outcome: HookOutcome) -> None:
    """What hooks say before the first prompt."""
    masked = conversation.services.kept.vault.masked
    conversation.backdrop.opening_context += [masked(one.text) for one in outcome.additional_context]
