"""Says when a request of the conversation does not extend the one before it (contract 6)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from checkrein.llm.port import Request
from checkrein.runtime.context.cache import key_of
from checkrein.runtime.session.events import CacheBreak, Event

if TYPE_CHECKING:
    from checkrein.runtime.session.conversation import Conversation


def announced(conversation: Conversation, request: Request) -> Iterator[Event]:
    """Announce a break before `request` goes out. Every request of the conversation passes here, those for
    summaries too."""
    state = conversation.state
    broken = conversation.backdrop.prefix.check(request, state.break_reason)
    state.break_reason = None
    if broken is not None or not state.requests:
        conversation.recorder.prefix(key_of(request))
    if broken is not None:
        yield CacheBreak(broken.reason, broken.layer, broken.kept, broken.tokens)
