"""What a parent learns of the end of a task."""

from __future__ import annotations

from typing import Any

import pytest

from checkrein.runtime.agents.delivery import answered, ended, launched, notification
from checkrein.runtime.agents.task import AgentTask
from checkrein.runtime.store.kept_task import KeptTask


def task(**fields: Any) -> AgentTask:
    given = {"id": "a1", "type": "worker", "call": "c1", "description": "some work", **fields}
    return AgentTask(KeptTask(**given), "/reports/a1")


@pytest.mark.parametrize(
    ("state", "words", "status"),
    [
        ("completed", "has completed", "completed"),
        ("failed", "has failed", "failed"),
        ("stopped", "was stopped before it was done", "killed"),
    ],
)
def test_each_end_has_its_words(state: Any, words: str, status: str) -> None:
    one = task(state=state, report="first line\nsecond", name="digger", background=True)
    text = notification(one)
    assert text.startswith(f"The agent a1, named digger (worker: some work) {words}.")
    assert "first line\nsecond" in text
    event = ended(one)
    assert (event.status, event.summary, event.path) == (status, "first line", "/reports/a1")
    assert (event.id, event.call_id, event.kind) == ("a1", "c1", "local_agent")


def test_one_without_words_says_so() -> None:
    assert "It left no report." in notification(task(state="completed"))
    assert "gave no answer" in str(answered(task(state="completed"), "p", continues=False).content)
    assert ended(task(state="failed", cut="It broke.")).summary == "It broke."
    assert ended(task(state="failed")).summary == "some work (worker)"


def test_a_cut_comes_before_the_words() -> None:
    text = str(
        answered(
            task(state="completed", report="half", cut="It reached its limit."), "p", continues=True
        ).content
    )
    assert text.index("It reached its limit.") < text.index("half")
    assert "SendMessage" in text


def test_only_one_that_can_go_on_is_offered() -> None:
    assert "SendMessage" not in str(
        answered(task(state="completed", report="r"), "p", continues=False).content
    )


@pytest.mark.parametrize(("state", "is_error"), [("completed", False), ("failed", True), ("stopped", True)])
def test_an_answer_that_is_an_error_says_so(state: Any, is_error: bool) -> None:
    output = answered(task(state=state, report="r"), "the prompt", continues=True)
    assert output.is_error is is_error
    assert output.structured["status"] == state
    assert output.structured["prompt"] == "the prompt"


def test_a_long_report_is_not_cut_a_second_time() -> None:
    output = answered(task(state="completed", report="x" * 160_000), "p", continues=True)
    assert output.limit is not None
    assert output.limit >= len(str(output.content))


def test_a_start_in_the_background_names_the_file() -> None:
    output = launched(task(name="digger"), "the prompt", "opus")
    assert output.structured["status"] == "async_launched"
    assert output.structured["outputFile"] == "/reports/a1"
    assert output.structured["resolvedModel"] == "opus"
    assert "to: digger" in str(output.content)
