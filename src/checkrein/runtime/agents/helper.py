"""The helper of an agent hook: a child that may only read, and answers one question."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING

from checkrein.base.errors import ModelError
from checkrein.llm.port import Cancel
from checkrein.runtime.session.budget import Budget
from checkrein.runtime.session.conversation import Child
from checkrein.runtime.session.events import Event, Finished, SessionStarted
from checkrein.runtime.session.options import Options

if TYPE_CHECKING:
    from checkrein.runtime.session.session import Session

HELPER_REQUESTS = 50
READING_TOOLS = ("Read", "Glob", "Grep")


def run_helper(
    parent: Session, prompt: str, model: str | None, call: str, cancel: Cancel, emit: Callable[[Event], None]
) -> str:
    """Run the helper and return its last message. Raises ModelError when there is none."""
    view = parent.conversation.view.narrow(skills=(), commands=(), agents=(), servers=(), tools=READING_TOOLS)
    options = Options(tools=READING_TOOLS, mode="dontAsk", bare=True, budget=Budget(requests=HELPER_REQUESTS))
    asked = Child(view=view, options=options, kind="helper", call=call, model=model)
    with parent.child(asked) as child, closing(child.run(prompt)) as stream:
        events = iter(stream)
        next(events)  # start the turn first: an interrupt before its start would be lost
        with cancel.on_cancel(child.control.interrupt):
            for event in events:
                if not isinstance(event, SessionStarted | Finished):
                    emit(event)
    result = stream.result
    if result is None or result.is_error:
        raise ModelError(result.problem if result else "The helper gave no answer.")
    return result.text
