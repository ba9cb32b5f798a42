"""Who runs, and which one a name means."""

from __future__ import annotations

import threading

import pytest

from checkrein.runtime.agents.crew import Crew
from checkrein.runtime.agents.task import AgentTask
from checkrein.runtime.store.kept_task import KeptTask, TaskState


def task(
    id: str, *, state: TaskState = "running", name: str | None = None, above: str | None = None
) -> AgentTask:
    kept = KeptTask(id=id, type="worker", call="c", description="d", state=state, name=name)
    return AgentTask(kept, f"/{id}", above=above)


@pytest.mark.parametrize(
    ("env", "most", "depth"),
    [
        ({}, 20, 3),
        ({"CLAUDE_CODE_MAX_CONCURRENT_SUBAGENTS": "7"}, 7, 3),
        ({"CLAUDE_CODE_MAX_SUBAGENT_SPAWN_DEPTH": "1"}, 20, 1),
        ({"CLAUDE_CODE_MAX_CONCURRENT_SUBAGENTS": "0"}, 20, 3),
        ({"CLAUDE_CODE_MAX_CONCURRENT_SUBAGENTS": "many"}, 20, 3),
    ],
)
def test_the_limits_are_those_of_the_environment(env: dict[str, str], most: int, depth: int) -> None:
    crew = Crew(env)
    assert (crew.most, crew.depth) == (most, depth)


def test_threads_never_exceed_the_limit() -> None:
    crew = Crew({"CLAUDE_CODE_MAX_CONCURRENT_SUBAGENTS": "5"})
    admitted: list[bool] = []
    begin = threading.Barrier(8)

    def work(number: int) -> None:
        begin.wait()
        admitted.extend(crew.admit(task(f"a{number}-{one}")) for one in range(5))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert sum(admitted) == 5


def test_one_that_has_ended_needs_no_room() -> None:
    crew = Crew({"CLAUDE_CODE_MAX_CONCURRENT_SUBAGENTS": "1"})
    first, second = task("a1"), task("a2", state="completed")
    assert crew.admit(first)
    assert crew.admit(second)
    assert not crew.admit(second, KeptTask(id="a2", type="worker", call="c", description="d"))
    assert second.state == "completed", "a refusal changes nothing"
    first.end(KeptTask(id="a1", type="worker", call="c", description="d", state="completed"))
    assert crew.admit(second, KeptTask(id="a2", type="worker", call="c", description="d"))
    assert second.state == "running"


def test_an_id_comes_before_a_name_and_the_newest_of_a_name_counts() -> None:
    crew = Crew({})
    one, two, liar = task("a1", name="x"), task("a2", name="x"), task("a3", name="a1")
    for each in (one, two, liar):
        crew.admit(each)
    assert crew.find("x") is two
    assert crew.find("a1") is one
    assert crew.find("nobody") is None
    assert crew.find("") is None


def test_an_agent_knows_those_below_it() -> None:
    crew = Crew({})
    top, child, grandchild, other = (
        task("a1"),
        task("a2", above="a1"),
        task("a3", above="a2"),
        task("a4"),
    )
    for each in (top, child, grandchild, other):
        crew.admit(each)
    assert crew.all() == (top, child, grandchild, other)
    assert crew.all("a1") == (child, grandchild)
    assert crew.all("a2") == (grandchild,)
    assert crew.all("a4") == ()
    assert crew.is_below(grandchild, "a1")
    assert not crew.is_below(top, "a1")
    assert not crew.is_below(other, "a1")
