"""A turn from what starts it to the last transition of the loop."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

from checkrein.facts.claude_hooks import HOOK_EVENTS, STOP_FAILURES
from checkrein.llm.cancel import Cancel
from checkrein.runtime.hooks import payloads
from checkrein.runtime.session.control import Prompt, Typed
from checkrein.runtime.session.events import Event, Transition
from checkrein.runtime.session.wakes import Wake
from checkrein.runtime.turn.compactor import compact
from checkrein.runtime.turn.directories import take_directories
from checkrein.runtime.turn.intake import accept, take_sent
from checkrein.runtime.turn.loop import loop
from checkrein.runtime.turn.news import noted
from checkrein.runtime.turn.turn import SessionTurn

if TYPE_CHECKING:
    from checkrein.runtime.session.conversation import Conversation


def prompted(
    turn: SessionTurn, prompt: Prompt | Typed | Wake, uuid: str
) -> Generator[Event, None, Transition]:
    """The turn of a prompt, or of a wake. Messages that wait come before it."""
    conversation, cancel = turn.conversation, turn.cancel
    if conversation.state.deferred is not None:
        from checkrein.runtime.turn.put_off import AGAIN, come_back, leave_behind

        if prompt is AGAIN:
            return (yield from come_back(turn))
        yield from leave_behind(turn)
    yield from take_directories(conversation, cancel)
    yield from take_sent(conversation, cancel)
    if isinstance(prompt, Wake) and not prompt.prompt:
        yield from noted(conversation, prompt)
        return (yield from _looped(turn))
    typed: Prompt
    author, verbatim = "", False
    if isinstance(prompt, Wake):
        typed, author = prompt.text, prompt.author
        if prompt.event is not None:
            yield prompt.event
    elif isinstance(prompt, Typed):
        typed, verbatim = prompt.content, prompt.verbatim
    else:
        typed = prompt
    taken = yield from accept(conversation, typed, uuid, cancel, author, verbatim=verbatim)
    if isinstance(prompt, Wake):
        prompt.taken()
    if taken.unknown is not None:
        return Transition("failed", taken.unknown)
    if taken.refused is not None:
        conversation.state.blocked_prompt = taken.refused
        return Transition("done", "the prompt was refused")
    if taken.answer is not None:
        conversation.state.blocked_prompt = taken.answer
        return Transition("done", "a command answered the prompt")
    if taken.compact is not None:
        ended = yield from compact(conversation, cancel, "manual", taken.compact)
        return ended or Transition("done", "compacted")
    return (yield from _looped(turn))


def _looped(turn: SessionTurn) -> Generator[Event, None, Transition]:
    conversation = turn.conversation
    step = yield from loop(turn)
    yield from conversation.hear_servers()
    if step.name == "failed" and conversation.state.failure is not None:
        yield from _failed(conversation, conversation.state.failure, step.detail, turn.cancel)
    return step


def _failed(conversation: Conversation, kind: str, detail: str, cancel: Cancel) -> Iterator[Event]:
    """Tell the StopFailure hooks why there is no answer. Their output changes nothing."""
    last = conversation.state.last
    payload = payloads.stop_failure(
        conversation.hooks.common,
        STOP_FAILURES.get(kind, kind if kind in HOOK_EVENTS["StopFailure"].values else "unknown"),
        last.text if last else detail,
        error_details=detail,
    )
    yield from conversation.hooks.fire_past(payload, cancel)
