"""`/clear`: the session begins another conversation, in a transcript of its own. The old one stays."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

from checkrein.llm.port import Cancel
from checkrein.runtime.hooks import payloads
from checkrein.runtime.session.events import Cleared, Event
from checkrein.runtime.store import SessionStore, SessionWriter
from checkrein.runtime.turn.prompt_outcome import Prompted

if TYPE_CHECKING:
    from checkrein.runtime.session.conversation import Conversation


def clear(conversation: Conversation, cancel: Cancel) -> Generator[Event, None, Prompted]:
    """Forget what was said. Mode, model, permissions and work in the background stay."""
    hooks, before = conversation.hooks, conversation.session_id
    yield from hooks.fire_past(payloads.session_end(hooks.common, "clear"), cancel)
    writer = _another(conversation)
    conversation.record.begin_again(writer)
    conversation.state.begin_again()
    conversation.backdrop.prompt.refresh()
    hooks.update(session_id=writer.session_id, transcript_path=str(writer.path))
    yield Cleared(before, writer.session_id)
    start = payloads.session_start(hooks.common, "clear", model=conversation.state.model)
    outcome = yield from hooks.fire(start, cancel)
    masked = conversation.services.kept.vault.masked
    conversation.backdrop.opening_context = [masked(one.text) for one in outcome.additional_context]
    return Prompted(answer="")


def _another(conversation: Conversation) -> SessionWriter:
    options, cwd = conversation.options, conversation.view.project.place.cwd
    store, old = SessionStore(options.sessions), conversation.recorder.writer
    if not old.saved:
        return store.unsaved(cwd)
    return store.create(cwd, kind=options.kind, mirror=old.mirror)
