"""A call that a hook put off: the session ended with it, and comes back to it."""

from __future__ import annotations

from collections.abc import Generator, Iterator

from checkrein.llm.port import Reply, ToolResult, Usage, user
from checkrein.runtime.call.failure import failed
from checkrein.runtime.session.events import Event, Transition
from checkrein.runtime.session.wakes import Wake
from checkrein.runtime.store.fold import NO_EFFECT
from checkrein.runtime.turn.loop import loop
from checkrein.runtime.turn.turn import SessionTurn

AGAIN = Wake(text="", source="deferred", awaited=True)
"""Starts the turn in which the call comes up again."""


def come_back(turn: SessionTurn) -> Generator[Event, None, Transition]:
    """Bring the call up again, with its hooks, and go on from there. They may put it off once more."""
    use = turn.state.deferred
    assert use is not None
    turn.state.deferred = None
    turn.conversation.recorder.writer.state(deferred=None)
    if turn.conversation.host.tools.get(use.name) is None:
        turn.stop_reason = "tool_deferred_unavailable"
        yield from _answered(turn, use.id, f"There is no tool {use.name!r} any more.")
        return Transition("failed", "tool_deferred_unavailable")
    reply = Reply(use.id, turn.state.model, (use,), "tool_use", Usage(), "tool_use", None)
    return (yield from loop(turn, (yield from turn.run_tools(reply))))


def leave_behind(turn: SessionTurn) -> Iterator[Event]:
    """A prompt comes instead: the call does not run, and the model learns it."""
    use = turn.state.deferred
    if use is not None:
        turn.state.deferred = None
        turn.conversation.recorder.writer.state(deferred=None)
        yield from _answered(turn, use.id, NO_EFFECT)


def _answered(turn: SessionTurn, call: str, text: str) -> Iterator[Event]:
    use = next(one for one in turn.state.messages[-1].content if getattr(one, "id", None) == call)
    yield failed(use, use.input, text, "model")  # type: ignore[arg-type, union-attr]  # it is the call
    turn.state.append(user(ToolResult(call, text, True)))
