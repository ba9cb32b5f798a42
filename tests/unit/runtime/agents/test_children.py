"""Starting subagents: which, with what, how many, and what comes home."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from checkrein.base.errors import SessionError, UsageError
from checkrein.runtime.session.budget import Budget
from checkrein.runtime.session.events import (
    BackgroundEnded,
    BackgroundStarted,
    Finished,
    ToolFinished,
    ToolStarted,
)
from checkrein.runtime.session.session import Session
from support.agents import below, files, heard, lived, order, orders, said
from support.sessions import call, locks, open_child


def env(**more: str) -> dict[str, str]:
    return {**os.environ, **more}


def answers(session: Session, events: Any, name: str = "Agent") -> list[ToolFinished]:
    return [
        one for one in events if isinstance(one, ToolFinished) and one.name == name and one.agent_id is None
    ]


def answer(session: Session, name: str = "Agent", prompt: str = "go") -> ToolFinished:
    (only,) = answers(session, lived(session, prompt), name)
    return only


def requests(session: Session) -> Any:
    return session.conversation.models.model.requests  # type: ignore[attr-defined]


PROJECT = pytest.mark.project(files())


@PROJECT
def test_the_report_is_the_answer(sessions: Any) -> None:
    session = sessions(
        *below({"text": "all is well"}), orders(order(run_in_background=False)), {"text": "thanks"}
    )
    done = answer(session)
    assert "all is well" in done.content
    assert not done.is_error
    assert done.structured["status"] == "completed"
    assert done.structured["agentType"] == "worker"
    assert session.result.text == "thanks"


@PROJECT
def test_an_unknown_type_names_the_nearest(sessions: Any) -> None:
    done = answer(sessions(orders(order(type="workr")), {"text": "done"}))
    assert done.is_error
    assert "There is no agent 'workr'. Did you mean worker?" in done.content.replace("'worker'", "worker")
    assert "general-purpose" in done.content


@pytest.mark.project(files(tools="mcp__nowhere__x"))
def test_one_without_tools_can_not_start(sessions: Any) -> None:
    done = answer(sessions(orders(order()), {"text": "done"}))
    assert done.is_error
    assert "mcp__nowhere__x" in done.content


def test_without_a_type_it_is_the_general_one(sessions: Any) -> None:
    session = sessions(orders(order(type=None, run_in_background=False)), {"text": "report"}, {"text": "end"})
    assert answer(session).structured["agentType"] == "general-purpose"


@PROJECT
def test_it_works_in_the_background_by_default(sessions: Any) -> None:
    session = sessions(*below({"text": "the report"}), orders(order()), {"text": "waiting"}, {"text": "read"})
    events = lived(session)
    (launched,) = answers(session, events)
    assert launched.structured["status"] == "async_launched"
    (started,) = [one for one in events if isinstance(one, BackgroundStarted)]
    (ended,) = [one for one in events if isinstance(one, BackgroundEnded)]
    assert started.id == ended.id == launched.structured["agentId"]
    assert started.kind == ended.kind == "local_agent"
    assert Path(ended.path).read_text() == "the report"
    told = said(requests(session)[-1].messages)
    assert told.count("the report") == 1
    assert sum(isinstance(one, Finished) and one.agent_id is None for one in events) in (1, 2)


@PROJECT
def test_nothing_works_in_the_background_when_that_is_off(sessions: Any) -> None:
    session = sessions(
        *below({"text": "the report"}),
        orders(order(run_in_background=True)),
        {"text": "end"},
        env=env(CLAUDE_CODE_DISABLE_BACKGROUND_TASKS="1"),
    )
    assert answer(session).structured["status"] == "completed"


@pytest.mark.project(files(background="true"))
def test_a_definition_can_insist_on_the_background(sessions: Any) -> None:
    session = sessions(
        *below({"text": "r"}), orders(order(run_in_background=False)), {"text": "w"}, {"text": "e"}
    )
    assert answer(session).structured["status"] == "async_launched"


@PROJECT
def test_so_many_run_at_once(sessions: Any) -> None:
    session = sessions(
        *below({"text": "r", "delay": 0.3, "repeat": 2}),
        orders(*(order(f"task {number}") for number in range(5))),
        {"text": "w", "repeat": 0},
        env=env(CLAUDE_CODE_MAX_CONCURRENT_SUBAGENTS="2", CLAUDE_CODE_WORKFLOW_PREFIX_STAGGER_MS="1"),
    )
    found = answers(session, lived(session))
    refused = [one for one in found if one.is_error]
    assert len(refused) == 3
    assert all("Don't try again" in one.content for one in refused)


@PROJECT
def test_those_that_end_make_room(sessions: Any) -> None:
    session = sessions(
        *below({"text": "r", "repeat": 3}),
        *(orders(order(run_in_background=False)) for _ in range(3)),
        {"text": "end"},
        env=env(CLAUDE_CODE_MAX_CONCURRENT_SUBAGENTS="1"),
    )
    assert not any(one.is_error for one in answers(session, lived(session)))


def chain(depth: int) -> list[dict[str, Any]]:
    """Each level starts the next, as long as it has the tool."""
    return [orders(order(f"level {one}", None, run_in_background=False)) for one in range(1, depth + 1)]


@pytest.mark.parametrize(("limit", "deepest"), [(None, 3), ("1", 1), ("2", 2), ("5", 5)])
def test_agents_go_so_deep(sessions: Any, limit: str | None, deepest: int) -> None:
    more = {} if limit is None else {"CLAUDE_CODE_MAX_SUBAGENT_SPAWN_DEPTH": limit}
    session = sessions(*chain(7), {"text": "end", "repeat": 0}, env=env(**more))
    lived(session)
    offered = [{tool.name for tool in one.tools} for one in requests(session)]
    assert [("Agent" in tools) for tools in offered[: deepest + 1]] == [True] * deepest + [False]


@pytest.mark.parametrize(
    ("variable", "asked", "defined", "used"),
    [
        ("haiku", "opus", "sonnet", "haiku"),
        ("", "opus", "sonnet", "opus"),
        ("", None, "sonnet", "sonnet"),
        ("", None, "inherit", None),
    ],
)
def test_the_model_is_chosen_in_order(
    sessions: Any, write: Any, variable: str, asked: str | None, defined: str, used: str | None
) -> None:
    write(".claude/agents/worker.md", files(model=defined)[".claude/agents/worker.md"])
    session = sessions(env=env(CLAUDE_CODE_SUBAGENT_MODEL=variable))
    session.delegate()
    children = session._agents
    from checkrein.runtime.agents.task import Order

    asks = Order(description="d", prompt="p", type="worker", model=asked)
    child = children._blueprints.child(asks, children.types["worker"], "c", background=False)
    assert child.model == used


@pytest.mark.parametrize(
    ("above", "asked", "mode"),
    [
        ("default", None, "plan"),
        ("default", "bypassPermissions", "default"),
        ("plan", "acceptEdits", "plan"),
        ("acceptEdits", None, "acceptEdits"),
        ("acceptEdits", "plan", "plan"),
    ],
)
@pytest.mark.project(files(permissionMode="plan"))
def test_the_mode_only_narrows(sessions: Any, above: str, asked: str | None, mode: str) -> None:
    more = {} if asked is None else {"mode": asked}
    session = sessions(
        *below({"text": "r"}), orders(order(run_in_background=False, **more)), {"text": "e"}, mode=above
    )
    seen = []
    was = session.child

    def child(wanted: Any) -> Any:
        made = was(wanted)
        seen.append(made.conversation.gate.mode)
        return made

    session.child = child
    lived(session)
    assert seen == [mode]


@pytest.mark.project({**files(maxTurns=2), "a.txt": "alpha"})
def test_one_that_reaches_its_limit_reports_what_it_has(sessions: Any) -> None:
    reads = {"text": "half of it", **call("Read", file_path="a.txt")}
    session = sessions(
        *below(reads, reads, {"text": "never"}), orders(order(run_in_background=False)), {"text": "e"}
    )
    done = answer(session)
    assert "half of it" in done.content
    assert "limit of turns" in done.content
    assert not done.is_error


@PROJECT
def test_one_that_fails_says_why(sessions: Any) -> None:
    broken = {"fault": {"status": 400, "message": "no such thing"}}
    session = sessions(*below(broken), orders(order(run_in_background=False)), {"text": "e"})
    done = answer(session)
    assert done.is_error
    assert "Agent terminated early due to an API error" in done.content
    assert "no such thing" in done.content


@pytest.mark.project({**files(), "a.txt": "alpha"})
def test_one_that_fails_late_keeps_its_words(sessions: Any) -> None:
    first = {"text": "the first half", **call("Read", file_path="a.txt")}
    broken = {"fault": {"status": 400, "message": "no such thing"}}
    session = sessions(*below(first, broken), orders(order(run_in_background=False)), {"text": "e"})
    done = answer(session)
    assert "the first half" in done.content
    assert "Agent terminated early due to an API error" in done.content


@PROJECT
def test_one_without_a_sign_of_life_is_ended(sessions: Any) -> None:
    session = sessions(
        *below({"text": "never", "delay": 60}),
        orders(order()),
        {"text": "w", "repeat": 0},
        env=env(CLAUDE_ASYNC_AGENT_STALL_TIMEOUT_MS="300"),
    )
    began = time.monotonic()
    events = lived(session)
    assert time.monotonic() - began < 10
    (ended,) = [one for one in events if isinstance(one, BackgroundEnded)]
    assert ended.status == "failed"
    assert "no sign of life" in said(requests(session)[-1].messages)


@pytest.mark.project({**files(), "slow.sh": "#!/bin/sh\nsleep 0.5\n"})
def test_one_that_works_is_not_ended(sessions: Any) -> None:
    """Each event is a sign of life."""
    steps = [call("Bash", command="./slow.sh") for _ in range(4)]
    session = sessions(
        *below(*steps, {"text": "the report"}),
        orders(order()),
        {"text": "w", "repeat": 0},
        allowed=("Bash",),
        env=env(CLAUDE_ASYNC_AGENT_STALL_TIMEOUT_MS="1500"),
    )
    lived(session)
    assert "the report" in said(requests(session)[-1].messages)


@PROJECT
def test_the_usage_of_the_tree_is_its_sum(sessions: Any) -> None:
    usage = {"input": 10, "output": 1}
    session = sessions(
        *below({"text": "r", "usage": usage}),
        {**orders(order(run_in_background=False)), "usage": usage},
        {"text": "e", "usage": usage},
    )
    done = answer(session)
    assert session.result.usage.input == 30
    assert done.structured["totalTokens"] == 11


@PROJECT
def test_one_limit_binds_the_tree(sessions: Any) -> None:
    session = sessions(
        *below({**call("Glob", pattern="*"), "repeat": 0, "usage": {"input": 100}}),
        orders(order(run_in_background=False)),
        {"text": "e"},
        budget=Budget(tokens=450),
    )
    lived(session)
    assert len(requests(session)) <= 6
    assert session.result.is_error


# Several starts at once.


@PROJECT
def test_siblings_that_start_together_are_all_known(sessions: Any) -> None:
    many = 10
    session = sessions(
        *below({"text": "r", "delay": 0.2, "repeat": many}),
        orders(*(order(f"task {number}") for number in range(many))),
        {"text": "w", "repeat": 0},
        env=env(CLAUDE_CODE_WORKFLOW_PREFIX_STAGGER_MS="1"),
    )
    list(session.run("go"))
    assert len(session._agents._threads.known) == many
    events = lived(session, "again")
    assert sum(isinstance(one, BackgroundEnded) for one in events) == many


@PROJECT
def test_so_many_calls_of_a_reply_run_at_once(sessions: Any) -> None:
    session = sessions(
        *below({"text": "r", "delay": 0.3, "repeat": 4}),
        orders(*(order(f"task {number}", run_in_background=False) for number in range(4))),
        {"text": "end"},
        env=env(CLAUDE_CODE_MAX_TOOL_USE_CONCURRENCY="2", CLAUDE_CODE_WORKFLOW_PREFIX_STAGGER_MS="1"),
    )
    running, most = 0, 0
    for event in session.run("go"):
        if isinstance(event, ToolStarted) and event.name == "Agent":
            running += 1
        elif isinstance(event, ToolFinished) and event.name == "Agent":
            running -= 1
        most = max(most, running)
    assert most == 2


@PROJECT
def test_an_interrupt_ends_those_that_have_not_begun(sessions: Any) -> None:
    """A sibling that waits for the first one's prefix never asks its model."""
    session = sessions(
        *below({"text": "never", "delay": 30, "repeat": 0}),
        orders(order("one"), order("two"), order("three")),
        {"text": "w", "repeat": 0},
    )
    list(session.run("go"))
    limit = time.monotonic() + 10
    while not heard(requests(session)) and time.monotonic() < limit:
        time.sleep(0.01)
    session.control.interrupt()
    for _, thread in session._agents._threads.known:
        thread.join(5)
    assert len(heard(requests(session))) == 1
    assert {task.state for task in session._agents.all()} == {"stopped"}


@PROJECT
@pytest.mark.parametrize("moment", [0.0, 0.01, 0.02, 0.03, 0.05, 0.1])
def test_no_child_outlives_a_session_that_ends_while_they_start(sessions: Any, moment: float) -> None:
    session = sessions(
        *below({"text": "never", "delay": 30, "repeat": 0}),
        orders(*(order(f"task {number}") for number in range(8))),
        {"text": "w", "repeat": 0},
    )
    ends = threading.Timer(moment, session.control.stop)
    ends.start()
    list(session.run("go"))
    session.close()
    ends.join()
    assert not [one for one in threading.enumerate() if one.name.startswith("agent-")]
    with pytest.raises(UsageError, match="closed"):
        open_child(session)


@PROJECT
def test_a_report_that_can_not_be_kept_is_told(sessions: Any) -> None:
    """A full disk must not leave the parent waiting."""
    session = sessions(*below({"text": "the report"}), orders(order()), {"text": "w", "repeat": 0})
    session.delegate()
    keep = session._agents._keep

    def fails(kept: Any) -> None:
        if kept.state != "running" and not kept.delivered:
            raise SessionError("no space left")
        keep(kept)

    session._agents._keep = fails
    lived(session)
    assert "the report" in said(requests(session)[-1].messages)


@PROJECT
def test_one_whose_start_can_not_be_kept_leaves_nothing(sessions: Any) -> None:
    session = sessions(*below({"text": "r"}), orders(order()), {"text": "w", "repeat": 0})

    def fails(kept: Any) -> None:
        raise SessionError("no space left")

    session.delegate()
    session._agents._keep = fails
    done = answer(session)
    assert done.is_error
    assert "no space left" in done.content
    assert len(locks()) == 1
    assert not session.control.wakes.awaited


@PROJECT
def test_a_report_keeps_the_run_alive_until_it_is_among_the_wakes(sessions: Any) -> None:
    """Between the end of the task and its wake nobody may think that nothing comes."""
    session = sessions(*below({"text": "the report"}), orders(order()), {"text": "w", "repeat": 0})
    wakes, seen = session.control.wakes, []
    put = wakes.put

    def slowly(wake: Any) -> None:
        seen.append(wakes.awaited)
        put(wake)

    wakes.put = slowly
    lived(session)
    assert seen == [True]
