"""Frames that arrive: prompts wait, control requests do not, nothing is lost."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkrein.base.errors import UsageError
from checkrein.protocol.inbox import Inbox, Unusable
from checkrein.protocol.wire import LineWriter
from checkrein.runtime.session.control import Control, Prompt, Typed
from checkrein.runtime.session.events import SessionStarted
from checkrein.runtime.session.idle import Idle
from checkrein.runtime.session.wakes import Wake

STARTED = SessionStarted(session_id="s", cwd="/", model="m", mode="default", tools=())


NOT_FOR_USERS = (
    "3",
    "null",
    '[{"type": "nope"}]',
    '""',
    '" \\n"',
    "[]",
    '[{"type": "text", "text": ""}]',
    '[{"type": "tool_use", "id": "x", "name": "Bash", "input": {"command": "ls"}}]',
    '[{"type": "text", "text": "a"}, {"type": "tool_result", "tool_use_id": "x", "content": "x"}]',
    '[{"type": "thinking", "thinking": "x", "signature": "x"}]',
)


class Desk:
    def __init__(self, **handlers: Any) -> None:
        self.control = Control()
        self.stream = io.BytesIO()
        self.inbox = Inbox(LineWriter(self.stream))
        self.inbox.attach(self.control, handlers)
        self.number = 0

    def line(self, text: str) -> bool:
        self.number += 1
        return self.inbox.take(self.number, text.encode())

    def user(self, text: str, **more: Any) -> bool:
        return self.line(json.dumps({"type": "user", "message": {"role": "user", "content": text}} | more))

    def request(self, subtype: Any, **more: Any) -> bool:
        return self.line(
            json.dumps({"type": "control_request", "request_id": "r", "request": {"subtype": subtype} | more})
        )

    def prompts(self) -> Iterator[Prompt | Typed | Wake | Unusable]:
        return self.inbox.prompts(Idle(self.control.wakes, lambda: None, 5.0))

    def end(self) -> None:
        self.inbox.take(0, None)

    @property
    def answers(self) -> list[dict[str, Any]]:
        frames = [json.loads(line) for line in self.stream.getvalue().splitlines()]
        assert all(frame["type"] == "control_response" for frame in frames)
        return [frame["response"] for frame in frames]


def test_prompts_come_in_order_until_the_end() -> None:
    desk = Desk()
    for text in "abc":
        assert desk.user(text)
    desk.end()
    assert list(desk.prompts()) == ["a", "b", "c"]


def test_blocks_and_frames_of_other_kinds() -> None:
    desk = Desk()
    blocks = {"type": "user", "message": {"content": [{"type": "text", "text": "b"}]}}
    for frame in (blocks, {"type": "other"}, [1], "x", {"type": "control_response"}):
        assert desk.line(json.dumps(frame))
    desk.end()
    (found,) = desk.prompts()
    assert isinstance(found, list)
    assert desk.answers == []


@pytest.mark.parametrize(
    "line",
    [
        *("garbage", "{", "\udcff", "[" * 100_000),
    ],
    ids=lambda line: line[:20].encode("ascii", "replace").decode(),
)
def test_a_line_that_is_no_message_ends_the_input_after_what_came_before(line: str) -> None:
    desk = Desk()
    desk.user("a")
    assert not desk.inbox.take(2, line.encode("utf-8", "surrogateescape"))
    prompts = desk.prompts()
    assert next(prompts) == "a"
    with pytest.raises(UsageError, match="Line 2 of standard input"):
        next(prompts)


@pytest.mark.parametrize("content", NOT_FOR_USERS)
def test_a_message_that_is_no_prompt_has_its_place_in_the_line(content: str) -> None:
    desk = Desk()
    for frame in ('{"type": "user", "message": {"content": ' + content + "}}", '{"type": "user"}'):
        assert desk.line(frame)
    desk.user("b")
    desk.end()
    first, second, prompt = desk.prompts()
    assert isinstance(first, Unusable)
    assert isinstance(second, Unusable)
    assert prompt == "b"


def test_a_prompt_in_line_can_be_withdrawn() -> None:
    desk = Desk()
    desk.user("a", uuid="1")
    desk.user("b", uuid="2")
    for uuid in ("2", "2", None):
        desk.request("cancel_async_message", message_uuid=uuid)
    desk.end()
    assert [one["response"]["cancelled"] for one in desk.answers] == [True, False, False]
    assert [one.content for one in desk.prompts() if isinstance(one, Typed)] == ["a"]


@pytest.mark.parametrize("early", [True, False])
def test_a_host_may_say_that_no_prompt_follows(early: bool) -> None:
    """The input stays open for its answers, and the run ends all the same."""
    desk = Desk()
    if early:
        desk.request("end_user_input")
    desk.user("a")
    if not early:
        desk.request("end_user_input")
    assert list(desk.prompts()) == ["a"]


@pytest.mark.parametrize("subtype", ["initialize", "nope", "", None, 3, {"a": 1}])
def test_a_request_that_nobody_knows(subtype: Any) -> None:
    desk = Desk()
    assert desk.request(subtype)
    (answer,) = desk.answers
    assert (answer["subtype"], answer["request_id"]) == ("error", "r")
    assert repr(subtype) in answer["error"]


@pytest.mark.parametrize("request_", [None, 3, [], "interrupt"])
def test_a_request_without_a_body(request_: Any) -> None:
    desk = Desk()
    assert desk.line(json.dumps({"type": "control_request", "request": request_}))
    assert desk.answers[0]["subtype"] == "error"


def test_handlers_answer() -> None:
    def fails(request: dict[str, Any]) -> dict[str, Any]:
        raise KeyError("k")

    def refuses(request: dict[str, Any]) -> dict[str, Any]:
        raise UsageError("not now")

    desk = Desk(echo=lambda request: {"got": request["x"]}, fails=fails, refuses=refuses)
    for name in ("echo", "fails", "refuses"):
        assert desk.request(name, x=1)
    assert [answer.get("response") or answer["error"] for answer in desk.answers] == [
        {"got": 1},
        "KeyError: 'k'",
        "not now",
    ]


def test_an_interrupt_of_the_running_turn() -> None:
    desk = Desk()
    desk.user("a")
    desk.user("b", uuid="u-b")
    prompts = desk.prompts()
    next(prompts)
    desk.control.begin_turn()
    desk.inbox.show(STARTED)
    assert not desk.control.interrupted
    desk.request("interrupt")
    assert desk.control.interrupted
    assert desk.answers == [{"subtype": "success", "request_id": "r", "response": {"still_queued": ["u-b"]}}]
    assert next(prompts) == Typed(content="b", uuid="u-b")
    desk.control.begin_turn()
    desk.inbox.show(STARTED)
    assert not desk.control.interrupted


@pytest.mark.parametrize("taken", [True, False])
def test_an_interrupt_between_a_prompt_and_its_turn(taken: bool) -> None:
    desk = Desk()
    desk.user("a")
    prompts = desk.prompts()
    if taken:
        next(prompts)
    desk.request("interrupt")
    if not taken:
        next(prompts)
    desk.control.begin_turn()
    desk.inbox.show(STARTED)
    assert desk.control.interrupted


def test_an_interrupt_while_nothing_runs_is_spent() -> None:
    desk = Desk()
    desk.request("interrupt")
    desk.user("a")
    next(desk.prompts())
    desk.control.begin_turn()
    desk.inbox.show(STARTED)
    assert not desk.control.interrupted


@pytest.mark.parametrize("priority", ["now", "next"])
def test_a_message_for_the_running_turn(priority: str) -> None:
    desk = Desk()
    desk.user("a")
    desk.user("b")
    prompts = desk.prompts()
    next(prompts)
    desk.user("c", priority=priority)
    desk.user("d", priority="later")
    assert desk.control.take_message() == "c"
    assert desk.control.take_message() is None
    desk.end()
    assert list(prompts) == ["b", "d"]


@settings(max_examples=200, derandomize=True)
@given(st.lists(st.tuples(st.sampled_from(["arrive", "next", "take", "turn"]), st.integers(0, 99))))
def test_nothing_is_lost_and_nothing_comes_twice(steps: list[tuple[str, int]]) -> None:
    """Arrivals, turns that take what was sent to them, and turns that end without doing so."""
    desk = Desk()
    sent: list[str] = []
    seen: list[Any] = []
    prompts = desk.prompts()
    waiting = 0
    for number, (step, _) in enumerate(steps):
        if step in ("arrive", "next"):
            text = str(number)
            sent.append(text)
            desk.user(text, **({"priority": "next"} if step == "next" else {}))
            waiting += 1
        elif step == "take" and (taken := desk.control.take_message()) is not None:
            seen.append(taken)
            waiting -= 1
        elif step == "turn" and waiting:
            seen.append(next(prompts))
            waiting -= 1
    desk.end()
    seen += prompts
    assert sorted(seen) == sorted(sent)


@pytest.mark.parametrize(("text", "arrives"), [("a\\ud800b", "a\ufffdb"), ("\\ud83d\\ude00", "\U0001f600")])
def test_half_a_surrogate_pair_does_not_end_the_input(text: str, arrives: str) -> None:
    desk = Desk()
    assert desk.line('{"type": "user", "message": {"content": "' + text + '"}}')
    assert desk.line('{"type": "other", "number": NaN, "long": ' + "9" * 30 + "}")
    desk.end()
    assert list(desk.prompts()) == [arrives]


@pytest.mark.parametrize("first", ["interrupt", "prompt"])
def test_an_interrupt_before_the_session_ends_only_what_came_before_it(first: str) -> None:
    desk = Desk.__new__(Desk)
    desk.control, desk.stream, desk.number = Control(), io.BytesIO(), 0
    desk.inbox = Inbox(LineWriter(desk.stream))
    steps = [lambda: desk.request("interrupt"), lambda: desk.user("a")]
    for step in steps if first == "interrupt" else reversed(steps):
        assert step()
    desk.inbox.attach(desk.control)
    desk.end()
    for _ in desk.prompts():
        cancel = desk.control.begin_turn()
        desk.inbox.show(STARTED)
        assert cancel.cancelled is (first == "prompt")
    assert [one["subtype"] for one in desk.answers] == ["success"]


def test_requests_that_wait_for_the_session_are_answered_in_their_order() -> None:
    desk = Desk.__new__(Desk)
    desk.control, desk.stream, desk.number = Control(), io.BytesIO(), 0
    desk.inbox = Inbox(LineWriter(desk.stream))
    done: list[str] = []

    def first(request: dict[str, Any]) -> dict[str, Any]:
        desk.request("third")
        done.append("first")
        return {}

    for subtype in ("first", "second"):
        desk.request(subtype)
    rest = {name: lambda request: done.append(request["subtype"]) or {} for name in ("second", "third")}
    desk.inbox.attach(desk.control, {"first": first, **rest})
    desk.request("third")
    assert done == ["first", "second", "third", "third"]
