"""The beginning of a session: what is not used, and the hooks that hear of it first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from checkrein.base.diagnostic import Diagnostic
from checkrein.llm.port import Cancel
from checkrein.runtime.context.reminders import memory_type
from checkrein.runtime.hooks import payloads
from checkrein.runtime.session.events import Event, Notice
from checkrein.runtime.turn.news import watch

if TYPE_CHECKING:
    from checkrein.runtime.session.engine import Engine

_PROGRAMS = frozenset({"print", "sdk"})
"""Kinds of sessions whose first message a hook may write: nobody is typing it."""


def start(engine: Engine) -> Iterator[Event]:
    """Once, before the first prompt. What hooks want the model to know waits in `opening_context`."""
    yield from _skipped(engine.skipped)
    yield from (Notice("info", note) for note in engine.notes)
    yield from _set_up(engine)
    yield from _instructions_loaded(engine)
    yield from _started(engine)


def _skipped(found: Sequence[Diagnostic]) -> Iterator[Notice]:
    """What of the project is not used, in one line for each reason; the result lists it all."""
    untrusted = [finding for finding in found if finding.code == "TRUST001"]
    if untrusted:
        text = f"{len(untrusted)} thing(s) of this project are not used, because it is not trusted."
        yield Notice("warning", f"{text} Look at them, then run `checkrein trust`.")
    for finding in found:
        if finding.code != "TRUST001":
            yield Notice("warning", f"{finding.origin}: {finding.message}")


def _set_up(engine: Engine) -> Iterator[Event]:
    """The Setup hooks, where the caller asked for them."""
    trigger = engine.options.setup
    if trigger is None:
        return
    events: list[Event] = []
    outcome = engine.firing.fire(payloads.setup(engine.firing.common, trigger), events.append, Cancel())
    yield from events
    engine.opening_context += [context.text for context in outcome.additional_context]
    yield from (Notice("warning", error) for error in outcome.errors)


def _instructions_loaded(engine: Engine) -> Iterator[Event]:
    """Tell the hooks of each instruction file that is in the context from the start."""
    if engine.options.bare or not engine.firing.runner.has("InstructionsLoaded"):
        return
    for item in engine.view.project.instructions:
        if item.lazy:
            continue
        events: list[Event] = []
        payload = payloads.instructions_loaded(
            engine.firing.common,
            item.name,
            memory_type(item.origin.scope),
            "include" if item.imported_by else "session_start",
            parent_file_path=item.imported_by,
        )
        engine.firing.fire(payload, events.append, Cancel())
        yield from events


def _started(engine: Engine) -> Iterator[Event]:
    """The SessionStart hooks, and what they change: the title, watched files, skills, the first message."""
    events: list[Event] = []
    payload = payloads.session_start(
        engine.firing.common, engine.source, model=engine.state.model, session_title=engine.title
    )
    outcome = engine.firing.fire(payload, events.append, Cancel())
    yield from events
    engine.opening_context += [context.text for context in outcome.additional_context]
    if outcome.session_title:
        engine.recorder.writer.title(outcome.session_title)
    watch(engine, outcome.watch_paths)
    if outcome.reload_skills and not engine.options.bare:
        _reload_skills(engine)
    if outcome.initial_user_message and engine.options.kind in _PROGRAMS:
        engine.initial_message = outcome.initial_user_message
    yield from (Notice("warning", error) for error in outcome.errors)
    yield from (Notice("info", message) for message in outcome.system_messages)


def _reload_skills(engine: Engine) -> None:
    """Take up the skills and commands that the hooks put there, before the first prompt."""
    from checkrein.runtime.skills.renewal import SkillFiles, renew

    news = renew(engine.invoker.shelf, SkillFiles(engine.view.project.place))
    if news:
        engine.opening_context.append(news)
