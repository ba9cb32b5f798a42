from __future__ import annotations

import threading

from checkrein.llm.port import Cancel
from checkrein.runtime.session.control import Answer, Control, Question, ScriptedAsker


def test_an_interrupt_reaches_the_running_turn_only() -> None:
    control = Control()
    first = control.begin_turn()
    fired = threading.Event()
    with first.on_cancel(fired.set):
        threading.Thread(target=control.interrupt).start()
        assert fired.wait(5)
    assert control.interrupted
    second = control.begin_turn()
    assert not second.cancelled
    assert not control.interrupted


def test_wishes_are_taken_once() -> None:
    control = Control()
    control.set_mode("plan")
    control.set_model(None)
    control.rewind("uuid")
    assert (control.take_mode(), control.take_model(), control.take_rewind()) == ("plan", "default", "uuid")
    assert (control.take_mode(), control.take_model(), control.take_rewind()) == (None, None, None)


def test_the_scripted_asker_denies_when_it_runs_out() -> None:
    asker = ScriptedAsker(Answer(behavior="allow"))
    question = Question(tool="Bash", input={}, call_id="1", reason="r")
    assert asker.ask(question, Cancel()).behavior == "allow"
    assert asker.ask(question, Cancel()).behavior == "deny"
    assert len(asker.questions) == 2
