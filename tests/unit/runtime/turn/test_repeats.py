"""Models that go in circles: the same calls with the same results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkrein.runtime.session.events import ContextAdded, Finished, ToolFinished
from checkrein.runtime.turn.repeats import LONGEST_CYCLE, Repeats
from support.sessions import call, open_session


def done(name: str, result: str, *, failed: bool = True, **input: Any) -> ToolFinished:
    return ToolFinished(id="1", name=name, input=input, uuid="u", content=result, is_error=failed)


def times(*calls: ToolFinished) -> list[int]:
    repeats = Repeats()
    counted = [repeats.take([one]) for one in calls]
    return [one.times if one else 0 for one in counted]


A = done("Read", "no such file", file_path="a")
B = done("Edit", "not found", file_path="b")
C = done("Glob", "broken pattern", pattern="[")
OK = done("Bash", "ok", failed=False, command="true")


def test_the_same_failing_call_is_counted() -> None:
    assert times(A, A, A, B, A) == [0, 2, 3, 0, 0]


def test_cycles_of_two_and_three_are_counted_when_they_close() -> None:
    assert times(A, B, A, B, A, B) == [0, 0, 0, 2, 0, 3]
    assert times(A, B, C, A, B, C, A, B, C) == [0, 0, 0, 0, 0, 2, 0, 0, 3]


def test_another_result_is_another_outcome() -> None:
    assert times(A, done("Read", "it is there", failed=False, file_path="a"), A, A) == [0, 0, 0, 2]


def test_times_in_a_result_make_no_difference() -> None:
    first = done("Bash", "1 failed in 0.12s at 10:20:30", command="pytest")
    second = done("Bash", "1 failed in 0.34s at 10:21:07", command="pytest")
    assert times(first, second) == [0, 2]


def test_a_failure_among_calls_that_work_closes_a_cycle() -> None:
    assert times(B, OK, B, OK) == [0, 0, 0, 2]


@pytest.mark.parametrize(
    "polled",
    [
        done("Bash", "running", failed=False, command="cat status"),
        done("Bash", "running", failed=False, command="sleep 1; cat status"),
        done("Bash", "cat: status: No such file", command="sleep 1; cat status"),
        done("Bash", "timed out", command="until test -f done; do sleep 1; done"),
        done("TaskOutput", "still running", task_id="1"),
        done("mcp__ci__state", "pending", failed=False),
        done("Read", "the same", failed=False, file_path="a"),
        done("StructuredOutput", "it does not fit"),
    ],
)
def test_what_may_change_or_works_is_never_counted(polled: ToolFinished) -> None:
    assert not any(times(*[polled] * 20))


def test_a_pause_between_two_looks_is_polling() -> None:
    pause = done("Bash", "", failed=False, command="sleep 1")
    assert not any(times(*[A, pause] * 10))


@given(st.lists(st.sampled_from([A, B, C, OK]), max_size=40))
def test_no_more_is_counted_than_a_plain_search_finds(calls: list[ToolFinished]) -> None:
    def plain(seen: list[ToolFinished]) -> int:
        for length in range(1, LONGEST_CYCLE + 1):
            cycle, count, end = seen[-length:], 0, len(seen)
            while end >= length and seen[end - length : end] == cycle:
                count, end = count + 1, end - length
            if count > 1 and any(one.is_error for one in cycle):
                return count
        return 0

    for index, count in enumerate(times(*calls)):
        assert count in (0, plain(calls[: index + 1]))


def reads(count: int) -> list[dict[str, Any]]:
    return [call("Read", file_path="gone.txt")] * count


def run(project: Path, *replies: dict[str, Any], **options: Any) -> tuple[list[ContextAdded], Any]:
    session = open_session(project, *replies, **options)
    events = list(session.run("go"))
    session.close()
    reminders = [e for e in events if isinstance(e, ContextAdded) and e.source == "repeated_calls"]
    last = events[-1]
    assert isinstance(last, Finished)
    return reminders, last.result


def test_a_model_is_reminded_and_then_stopped(project: Path) -> None:
    reminders, result = run(project, *reads(9), {"text": "never said"})
    assert len(reminders) == 1
    assert 'Read {"file_path":"gone.txt"}' in reminders[0].text
    assert result.is_error
    assert result.terminal_reason == "repeated_calls"
    assert "5 times" in result.problem


def test_a_model_that_heeds_the_reminder_goes_on(project: Path) -> None:
    reminders, result = run(project, *reads(4), {"text": "The file is gone."})
    assert len(reminders) == 1
    assert not result.is_error
    assert result.text == "The file is gone."


def test_the_numbers_are_configuration(project: Path) -> None:
    (project / "checkrein.toml").write_text("[loops]\nremind = 2\nend = 0\n")
    reminders, result = run(project, *reads(12), {"text": "said"})
    assert len(reminders) == 1
    assert not result.is_error
