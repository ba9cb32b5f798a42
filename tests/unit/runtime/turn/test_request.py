from __future__ import annotations

import random
import time
from typing import Any

from checkrein.llm.port import Cancel, ModelRequestError, Request, Text, user
from checkrein.runtime.session.channel import drained, ignored
from checkrein.runtime.session.events import AssistantBlock, Event, Retrying, Streamed
from checkrein.runtime.turn.request import Asked, ask
from checkrein.runtime.turn.retry import LONGEST_WAIT_ASKED, RetryPolicy, delay
from checkrein.testing import Call, Fault, ScriptedModel, Turn

REQUEST = Request(model="m", messages=(user("hi"),))


def play(
    *turns: Turn, attempts: int = 3, partial: bool = False, cancel: Cancel | None = None
) -> tuple[list[Event], Asked, list[float]]:
    waits: list[float] = []

    def sleep(seconds: float) -> bool:
        waits.append(seconds)
        return False

    stream = ask(
        ScriptedModel(turns, idle=0.2),
        REQUEST,
        cancel or Cancel(),
        RetryPolicy(attempts),
        partial=partial,
        chance=random.Random(1),
        sleep=sleep,
    )
    events: list[Event] = []
    while True:
        try:
            events.append(next(stream))
        except StopIteration as end:
            return events, end.value, waits


def kinds(events: list[Event]) -> list[type[Any]]:
    return [type(event) for event in events]


def test_blocks_of_one_reply_share_an_id_and_the_last_has_the_stop_reason() -> None:
    events, asked, _ = play(Turn(text="hello", tool_calls=(Call("Bash", {"command": "ls"}),)))
    blocks = [event for event in events if isinstance(event, AssistantBlock)]
    assert len({block.message_id for block in blocks}) == 1
    assert [block.last for block in blocks] == [False, True]
    assert blocks[-1].stop_reason == "tool_use"
    assert asked.reply is not None
    assert asked.reply.tool_calls[0].name == "Bash"


def test_partial_events_come_before_the_blocks() -> None:
    events, _, _ = play(Turn(text="hello", chunk=2), partial=True)
    order = kinds(events)
    assert order.index(AssistantBlock) > max(i for i, kind in enumerate(order) if kind is Streamed)


def test_retries_until_it_works() -> None:
    events, asked, waits = play(
        Turn(fault=Fault(status=529)), Turn(fault=Fault(status=429, retry_after=7.0)), Turn(text="ok")
    )
    assert kinds(events)[:2] == [Retrying, Retrying]
    assert asked.error is None
    assert asked.attempts == 3
    assert 0.3 < waits[0] < 0.7
    assert waits[1] == 7.0


def test_gives_up_after_the_attempts() -> None:
    events, asked, waits = play(*[Turn(fault=Fault(status=500))] * 5, attempts=2)
    assert asked.reply is None
    assert asked.error is not None
    assert asked.error.kind == "server_error"
    assert len(waits) == 2
    assert AssistantBlock not in kinds(events)


def test_no_retry_on_a_refused_request() -> None:
    _, asked, waits = play(Turn(fault=Fault(status=400)), Turn(text="never"))
    assert asked.error is not None
    assert waits == []


def test_whole_blocks_of_a_cut_stream_are_kept_and_never_asked_for_again() -> None:
    turn = Turn(text="said", tool_calls=(Call("Bash", {"command": "ls"}),), fault=Fault(cut=True, after=5))
    events, asked, waits = play(turn, Turn(text="never"))
    assert waits == []
    assert asked.reply is not None
    assert [type(block) for block in asked.reply.content] == [Text]
    assert [event.error for event in events if isinstance(event, AssistantBlock)] == ["dropped"]


def test_a_cut_before_anything_whole_is_retried() -> None:
    events, asked, _ = play(Turn(text="x" * 50, chunk=5, fault=Fault(cut=True, after=3)), Turn(text="again"))
    assert asked.reply is not None
    assert asked.reply.text == "again"
    assert sum(isinstance(event, AssistantBlock) for event in events) == 1


def test_malformed_and_silent_streams_are_retried() -> None:
    _, asked, waits = play(
        Turn(text="a", fault=Fault(malformed=True)), Turn(text="b", fault=Fault(silent=1.0)), Turn(text="ok")
    )
    assert asked.reply is not None
    assert asked.reply.text == "ok"
    assert len(waits) == 2


def test_cancel_ends_the_waiting() -> None:
    cancel = Cancel()
    cancel.cancel()
    _, asked, waits = play(Turn(fault=Fault(status=529)), cancel=cancel)
    assert asked.reply is None
    assert waits == []


def test_delays_grow_and_are_bounded() -> None:
    chance = random.Random(2)
    error = ModelRequestError("overloaded", "x")
    waits = [delay(RetryPolicy(), error, attempt, chance) for attempt in range(1, 11)]
    assert all(wait is not None and wait <= 40 for wait in waits)
    assert waits[5] > waits[0]  # type: ignore[operator]
    assert delay(RetryPolicy(), error, 11, chance) is None
    long = ModelRequestError("rate_limit", "x", retry_after=9999)
    assert delay(RetryPolicy(), long, 1, chance) == LONGEST_WAIT_ASKED


def test_before_another_model_three_tries_and_twenty_seconds() -> None:
    hurried = RetryPolicy().before_another()
    assert (hurried.attempts, hurried.seconds) == (2, 20.0)
    assert RetryPolicy(1).before_another().attempts == 1


def quick(*turns: Turn, seconds: float, attempts: int = 5) -> Asked:
    policy = RetryPolicy(attempts, seconds=seconds)
    stream = ask(ScriptedModel(turns), REQUEST, Cancel(), policy, partial=False, chance=random.Random(1))
    return drained(stream, ignored)


def test_a_model_that_sends_nothing_fails_while_another_waits() -> None:
    asked = quick(Turn(text="late", delay=30), seconds=0.1)
    assert asked.error is not None
    assert (asked.error.kind, asked.reply) == ("idle_timeout", None)
    assert asked.seconds < 5


def test_a_slow_reply_has_not_failed() -> None:
    assert quick(Turn(text="abc", chunk=1, pace=0.1), seconds=0.2).error is None


def test_no_wait_goes_beyond_the_time() -> None:
    asked = quick(Turn(fault=Fault(status=429, retry_after=60)), seconds=5)
    assert asked.error is not None
    assert (asked.error.kind, asked.attempts) == ("rate_limit", 1)


def test_a_cancel_in_the_wait_is_a_cancel() -> None:
    cancel = Cancel(time.monotonic() + 0.1)
    _, asked, _ = play(Turn(text="never", delay=20), cancel=cancel)
    assert asked.error is not None
    assert asked.error.kind == "cancelled"


def test_the_text_of_a_cancelled_reply_stays() -> None:
    cancel = Cancel(time.monotonic() + 0.75)
    _, asked, _ = play(Turn(text="one two three four five", chunk=4, pace=0.1), cancel=cancel)
    assert asked.reply is not None
    assert asked.reply.text.startswith("one ")
