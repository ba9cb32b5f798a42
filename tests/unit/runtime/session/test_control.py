from __future__ import annotations

import threading

from checkrein.llm.port import Cancel
from checkrein.runtime.session.control import Answer, Control, Question, ScriptedAnswerer, ScriptedAsker


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
    asker = ScriptedAsker(Answer(verdict="allow"))
    question = Question(tool="Bash", input={}, call_id="1", reason="r")
    assert asker.ask(question, Cancel()).verdict == "allow"
    assert asker.ask(question, Cancel()).verdict == "deny"
    assert len(asker.questions) == 2


def test_messages_are_taken_once_in_their_order() -> None:
    control = Control()
    threads = [threading.Thread(target=control.send, args=(str(n),)) for n in range(50)]
    taken: list[object] = []

    def take() -> None:
        while len(taken) < 50:
            message = control.take_message()
            if message is not None:
                taken.append(message)

    takers = [threading.Thread(target=take) for _ in range(3)]
    for thread in (*takers, *threads):
        thread.start()
    for thread in (*threads, *takers):
        thread.join(20)
    assert sorted(taken, key=str) == sorted(map(str, range(50)))
    control.send("a")
    control.send("b")
    assert [control.take_message() for _ in range(3)] == ["a", "b", None]


def test_the_same_people_answer_for_a_child() -> None:
    control = Control(ScriptedAsker(), ScriptedAnswerer())
    control.send("for the parent")
    child = control.below()
    assert (child.asker, child.answerer) == (control.asker, control.answerer)
    assert child.take_message() is None
    assert child.cancel is not control.cancel


def test_the_scripted_answerer_declines_when_it_runs_out() -> None:
    answerer = ScriptedAnswerer({"answers": {}})
    assert answerer.answer({"questions": []}, Cancel()) == {"answers": {}}
    assert answerer.answer({"questions": []}, Cancel()) is None
