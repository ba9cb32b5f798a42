from __future__ import annotations

import ast
import inspect
from collections.abc import Generator

from checkrein.llm.port import ModelRequestError, Reply, Text, ToolUse, Usage
from checkrein.runtime.session.events import Event, Notice, Transition
from checkrein.runtime.session.state import State
from checkrein.runtime.turn import loop as module
from checkrein.runtime.turn.loop import loop
from checkrein.runtime.turn.request import Asked
from checkrein.runtime.turn.transitions import judge


class FakeTurn:
    """Plays a list of answers and records what the loop did."""

    def __init__(self, *answers: Reply | ModelRequestError, limit_after: int = 99) -> None:
        self.answers = list(answers)
        self.state = State("m")
        self.asked = 0
        self.prepared: list[str] = []
        self.objections = 0
        self.limit_after = limit_after
        self.tools: list[str] = []

    def limit(self) -> Transition | None:
        return Transition("limit", "turns") if self.asked >= self.limit_after else None

    def prepare(self, step: Transition) -> Generator[Event, None, Transition | None]:
        self.prepared.append(step.name)
        yield Notice("info", step.name)
        return None

    def ask(self) -> Generator[Event, None, Asked]:
        self.asked += 1
        answer = self.answers.pop(0)
        yield Notice("info", "asked")
        return Asked(answer, None, 0, 1) if isinstance(answer, Reply) else Asked(None, answer, 0, 1)

    def judge(self, asked: Asked) -> Transition:
        return judge(self.state, asked, fallbacks=1, structured=False)

    def run_tools(self, reply: Reply) -> Generator[Event, None, Transition]:
        self.tools += [call.name for call in reply.tool_calls]
        yield Notice("info", "tools")
        return Transition("tool_use")

    def try_to_stop(self, step: Transition) -> Generator[Event, None, Transition]:
        yield Notice("info", "stop?")
        if self.objections:
            self.objections -= 1
            return Transition("stop_hook", "not yet")
        return step


SAY = Reply("m", "m", (Text("done"),), "end_turn", Usage())
CALL = Reply("m", "m", (ToolUse("1", "Bash", {}),), "tool_use", Usage())


def play(turn: FakeTurn) -> tuple[list[str], Transition]:
    names: list[str] = []
    stream = loop(turn)
    while True:
        try:
            event = next(stream)
        except StopIteration as end:
            return names, end.value
        if isinstance(event, Transition):
            names.append(event.name)


def test_one_reply() -> None:
    assert play(FakeTurn(SAY)) == (["start", "done"], Transition("done", "end_turn"))


def test_tools_then_an_end() -> None:
    turn = FakeTurn(CALL, CALL, SAY)
    names, _ = play(turn)
    assert names == ["start", "tool_use", "tool_use", "done"]
    assert turn.tools == ["Bash", "Bash"]


def test_a_stop_hook_sends_it_back() -> None:
    turn = FakeTurn(SAY, SAY)
    turn.objections = 1
    assert play(turn)[0] == ["start", "stop_hook", "done"]


def test_limits_end_it_before_the_next_request() -> None:
    turn = FakeTurn(CALL, CALL, limit_after=1)
    names, step = play(turn)
    assert names == ["start", "tool_use", "limit"]
    assert step == Transition("limit", "turns")
    assert turn.asked == 1


def test_a_failure_is_a_terminal_value() -> None:
    names, step = play(FakeTurn(ModelRequestError("authentication_failed", "no")))
    assert names == ["start", "failed"]
    assert step.detail == "no"


def test_fallback_is_prepared_and_tried() -> None:
    turn = FakeTurn(ModelRequestError("overloaded", "busy"), SAY)
    assert play(turn)[0] == ["start", "fallback", "done"]
    assert turn.prepared == ["start", "fallback"]


def test_the_loop_fits_on_one_screen() -> None:
    tree = ast.parse(inspect.getsource(module))
    function = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "loop")
    assert function.end_lineno is not None
    assert function.end_lineno - function.lineno + 1 <= 60
