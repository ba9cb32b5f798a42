"""The answer to `initialize` while a call that was put off comes up again."""

from __future__ import annotations

import threading

import pytest

from checkrein.protocol import held_reply
from checkrein.protocol.held_reply import HeldReply
from checkrein.runtime.session.events import Finished, Notice, Result, ToolFinished

CALL = ToolFinished(id="c", name="Bash", input={}, uuid="u", content="")
END = Finished(Result(subtype="success", is_error=False, session_id="s"), "u")


@pytest.mark.parametrize("event", [CALL, END])
def test_it_is_sent_once_when_the_call_or_its_turn_has_ended(event: ToolFinished | Finished) -> None:
    sent: list[str] = []
    held = HeldReply(lambda: sent.append("reply"))
    held.take(Notice("info", "not yet"))
    assert sent == []
    held.take(event)
    held.take(END)
    held.release()
    assert sent == ["reply"]


def test_it_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held_reply, "_PATIENCE", 0.01)
    sent = threading.Event()
    HeldReply(sent.set)
    assert sent.wait(20)
