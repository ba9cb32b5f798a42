"""SendMessage, TaskOutput, TaskStop and ListAgents, to agents in every state."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from checkrein.llm.port import Cancel, ToolUse
from checkrein.runtime.call.host import Done
from checkrein.runtime.session.session import Session
from support.agents import below, files, heard, lived, order, orders, said
from support.sessions import call, open_session

PROJECT = pytest.mark.project(files())
FIRST = {"text": "w", "repeat": 0}


def use(session: Session, name: str, **input: Any) -> Done:
    """A call of the model, in the conversation of the session."""
    return session.conversation.host.call(ToolUse("later", name, input), Cancel())


def requests(session: Session) -> Any:
    return session.conversation.models.model.requests  # type: ignore[attr-defined]


def only(session: Session) -> Any:
    (task,) = session._agents.all()  # type: ignore[union-attr]
    return task


def until(true: Any, seconds: float = 10) -> None:
    limit = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < limit
        time.sleep(0.01)


@PROJECT
def test_a_running_agent_is_listed_read_and_told(sessions: Any) -> None:
    slow = call("Bash", command="until [ -e told ]; do sleep 0.02; done")
    session = sessions(
        *below(slow, {"text": "the report", "expect": {"text": "look there too"}}),
        orders(order(name="digger")),
        FIRST,
        allowed=("Bash",),
    )
    list(session.run("go"))
    task = only(session)
    assert "digger: running" in use(session, "ListAgents").finished.content
    early = use(session, "TaskOutput", task_id="digger", block=False).finished
    assert early.structured["task"]["status"] == "running"
    sent = use(session, "SendMessage", to="digger", message="look there too", summary="s").finished
    assert sent.structured["agentId"] == task.id
    (Path(session.conversation.host.cwd) / "told").touch()
    done = use(session, "TaskOutput", task_id=task.id, timeout=20_000).finished
    assert "the report" in done.content
    assert done.structured["retrieval_status"] == "success"


@PROJECT
def test_waiting_for_one_has_an_end(sessions: Any) -> None:
    session = sessions(*below({"text": "never", "delay": 30}), orders(order()), FIRST)
    list(session.run("go"))
    done = use(session, "TaskOutput", task_id=only(session).id, timeout=200).finished
    assert done.structured["retrieval_status"] == "timeout"


@PROJECT
def test_one_that_has_ended_goes_on_with_all_it_knows(sessions: Any) -> None:
    session = sessions(
        *below({"text": "first report"}, {"text": "second report"}), orders(order("the task")), FIRST
    )
    lived(session)
    use(session, "SendMessage", to=only(session).id, message="one more thing", summary="s")
    lived(session, "and then")
    again = said(heard(requests(session))[-1].messages)
    assert "the task" in again
    assert "one more thing" in again
    assert only(session).kept.report == "second report"
    told = said(requests(session)[-1].messages)
    assert told.count("first report") == 1
    assert told.count("second report") == 1


@PROJECT
@pytest.mark.parametrize("background", [True, False])
def test_one_that_goes_on_forgets_the_report_that_was_told(sessions: Any, background: bool) -> None:
    """Killed now, it must not tell it a second time."""
    session = sessions(
        *below({"text": "first"}, {"text": "never", "delay": 30}),
        orders(order(run_in_background=background)),
        FIRST,
    )
    lived(session)
    use(session, "SendMessage", to=only(session).id, message="more", summary="s")
    assert (only(session).state, only(session).kept.report) == ("running", "")


@PROJECT
def test_one_that_does_not_come_to_its_end_is_left_alone(sessions: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("checkrein.runtime.agents.children._LAST_STEPS", 0.1)
    session = sessions(*below({"text": "never", "delay": 30}), orders(order()), FIRST)
    list(session.run("go"))
    task = only(session)
    task._listens = False
    refused = use(session, "SendMessage", to=task.id, message="more", summary="s").finished
    assert refused.is_error
    assert "about to end" in refused.content
    assert task.state == "running"


@PROJECT
def test_one_in_the_foreground_goes_on_in_the_background(sessions: Any) -> None:
    session = sessions(
        *below({"text": "first"}, {"text": "second"}), orders(order(run_in_background=False)), FIRST
    )
    lived(session)
    sent = use(session, "SendMessage", to=only(session).id, message="more", summary="s").finished
    assert "has your message" in sent.content
    lived(session, "and")
    assert "second" in said(requests(session)[-1].messages)


@PROJECT
def test_one_that_was_stopped_refuses(sessions: Any) -> None:
    session = sessions(*below({"text": "never", "delay": 30}), orders(order()), FIRST)
    list(session.run("go"))
    task = only(session)
    assert "has been stopped" in use(session, "TaskStop", task_id=task.id).finished.content
    until(lambda: task.state == "stopped")
    refused = use(session, "SendMessage", to=task.id, message="go on", summary="s").finished
    assert refused.is_error
    assert "on purpose" in refused.content
    assert use(session, "TaskStop", task_id=task.id).finished.is_error


def test_a_reader_answers_once(sessions: Any) -> None:
    session = sessions(orders(order(type="Explore", run_in_background=False)), {"text": "found"}, FIRST)
    lived(session)
    task = only(session)
    refused = use(session, "SendMessage", to=task.id, message="more", summary="s").finished
    assert refused.is_error
    assert "answers once" in refused.content


@PROJECT
def test_an_unknown_one_is_named_with_those_that_there_are(sessions: Any) -> None:
    session = sessions(*below({"text": "r"}), orders(order(name="digger")), FIRST)
    lived(session)
    refused = use(session, "SendMessage", to="diger", message="more", summary="s").finished
    assert "diger" in refused.content
    assert "digger" in refused.content


@PROJECT
def test_a_message_in_the_last_moment_is_heard(sessions: Any) -> None:
    """It comes after the last request of the agent and before its report is home: it makes another turn, or
    continues the agent. Nothing that was taken is lost."""
    for delay in (0.0, 0.002, 0.005, 0.01, 0.02, 0.03):
        session = sessions(
            *below({"text": "first", "delay": 0.05}, {"text": "second", "repeat": 0}),
            orders(order()),
            FIRST,
        )
        list(session.run("go"))
        task = only(session)
        until(lambda: len(heard(requests(session))) == 1)  # noqa: B023
        time.sleep(0.05 + delay)
        use(session, "SendMessage", to=task.id, message="LATE", summary="s")
        lived(session, "and")
        assert "LATE" in said(heard(requests(session))[-1].messages), delay
        assert task.kept.report == "second"


@PROJECT
def test_messages_are_heard_in_their_order(sessions: Any) -> None:
    session = sessions(
        *below({"text": "first", "delay": 0.3}, {"text": "second", "repeat": 0}), orders(order()), FIRST
    )
    list(session.run("go"))
    until(lambda: len(heard(requests(session))) == 1)
    for number in range(3):
        use(session, "SendMessage", to=only(session).id, message=f"message {number}", summary="s")
    lived(session, "and")
    told = said(heard(requests(session))[-1].messages)
    assert sorted(told.index(f"message {number}") for number in range(3)) == [
        told.index(f"message {number}") for number in range(3)
    ]


@PROJECT
def test_one_that_can_not_go_on_leaves_room(sessions: Any) -> None:
    """A child that can't be opened again neither counts as running nor loses its report."""
    session = sessions(*below({"text": "r"}), orders(order()), FIRST)
    lived(session)
    task = only(session)

    def fails(asked: Any) -> Any:
        raise ValueError("no")

    session.child = fails
    refused = use(session, "SendMessage", to=task.id, message="more", summary="s").finished
    assert refused.is_error
    assert only(session) is task
    assert (task.state, task.kept.report) == ("completed", "r")


# What an agent may do to others.


def nested(project: Any, *inner: dict[str, Any], **options: Any) -> Session:
    """A session whose foreground agent makes these replies, beside a sibling in the background."""
    return open_session(
        project,
        *below(*inner, to="inner"),
        *below({"text": "sibling", "delay": 1.5}, to="outer"),
        orders(order("outer", name="sibling"), order("inner", name="inner", run_in_background=False)),
        FIRST,
        **options,
    )


@PROJECT
@pytest.mark.parametrize(
    "step",
    [
        call("TaskStop", task_id="sibling"),
        call("TaskStop", task_id="inner"),
        call("SendMessage", to="sibling", message="stop it", summary="s"),
        call("SendMessage", to="inner", message="hello me", summary="s"),
        call("SendMessage", to="main", message="obey", summary="s"),
    ],
)
def test_an_agent_reaches_only_those_below_it(project: Any, step: dict[str, Any]) -> None:
    with nested(project, step, {"text": "tried"}) as session:
        lived(session)
        states = {task.kept.name: task.state for task in session._agents.all()}  # type: ignore[union-attr]
        assert states == {"sibling": "completed", "inner": "completed"}
        told = said(heard(requests(session), "WORKER")[-1].messages)
        assert "stop it" not in said(
            message for one in requests(session) for message in one.messages[:1] if "outer" in said([message])
        )
        assert "hello me" not in told


@PROJECT
def test_an_agent_lists_only_those_below_it(project: Any) -> None:
    with nested(project, call("ListAgents"), {"text": "tried"}) as session:
        lived(session)
        inner = [one for one in heard(requests(session)) if "inner" in said(one.messages)]
        assert "There are no agents" in said(inner[-1].messages)


@PROJECT
def test_an_agent_does_not_stop_its_parents_commands(project: Any) -> None:
    with open_session(
        project,
        *below(call("TaskStop", task_id="bash_1"), {"text": "tried"}),
        call("Bash", command="sleep 20", run_in_background=True),
        orders(order(run_in_background=False)),
        FIRST,
        allowed=("Bash",),
    ) as session:
        lived(session)
        assert session.conversation.desk.shells["bash_1"].status == "running"


@PROJECT
def test_the_commands_of_an_agent_end_with_it(project: Any) -> None:
    with open_session(
        project,
        *below(call("Bash", command="sleep 20", run_in_background=True), {"text": "left it"}),
        orders(order(run_in_background=False)),
        FIRST,
        allowed=("Bash",),
    ) as session:
        shells: list[Any] = []
        was = session.child

        def child(asked: Any) -> Any:
            made = was(asked)
            shells.append(made.conversation.desk.shells)
            return made

        session.child = child  # type: ignore[method-assign]
        lived(session)
        (shell,) = shells[0].values()
        until(lambda: shell.status == "killed", 3)


@PROJECT
def test_each_thread_of_an_agent_ends(project: Any) -> None:
    before = threading.active_count()
    with nested(project, {"text": "done"}) as session:
        lived(session)
    until(lambda: threading.active_count() <= before, 5)


SKILL = """---
name: look
description: Looks at things.
context: fork
agent: worker
allowed-tools: Bash(echo *)
---
Look at $ARGUMENTS. !`echo from the line`
"""
FORKED = pytest.mark.project(files() | {".claude/skills/look/SKILL.md": SKILL})


@FORKED
def test_a_forked_skill_runs_in_its_agent(sessions: Any) -> None:
    session = sessions(
        *below({"text": "seen", "expect": {"text": "Look at the door. from the line"}}),
        call("Skill", skill="look", args="the door"),
        {"text": "done", "expect": {"tool_result": "seen"}},
        allowed=("Skill",),
    )
    lived(session)
    assert session.result.text == "done"
    rules = [rule.text for layer in session.conversation.gate.policy.layers for rule in layer.rules]
    assert "Skill" in rules
    assert "Bash(echo *)" not in rules


@FORKED
def test_a_forked_skill_by_its_command(sessions: Any) -> None:
    session = sessions(*below({"text": "seen"}), {"text": "done", "expect": {"text": "seen"}})
    lived(session, "/look the door")
    assert session.result.text == "done"


@FORKED
def test_a_forked_skill_where_there_are_no_agents(sessions: Any) -> None:
    replies = (call("Skill", skill="look"), {"text": "done", "expect": {"tool_result": "no subagents"}})
    session = sessions(*replies, allowed=("Skill",), disallowed=("Agent",))
    lived(session)
    assert session.result.text == "done"


@pytest.mark.project(files())
def test_the_tree_is_in_the_result_by_agent(sessions: Any) -> None:
    used = {"usage": {"input": 7, "output": 3}}
    session = sessions(
        *below({"text": "a", **used}),
        orders(order(run_in_background=False)) | used,
        {"text": "done", **used},
    )
    lived(session)
    parts = session.result.by_agent
    assert sorted(one.requests for one in parts.values()) == [1, 2]
    assert parts["main"].usage.input == 14
    assert sum(one.usage.total for one in parts.values()) == session.result.usage.total


@pytest.mark.project(files())
def test_compaction_restates_what_runs(sessions: Any) -> None:
    session = sessions(
        *below({"text": "a", "delay": 3.0}),
        orders(order(name="helper")),
        {"text": "started"},
        {"text": "a summary"},
        {"text": "on"},
    )
    list(session.run("go"))
    list(session.run("/compact"))
    assert "named helper: running" in said(session.conversation.state.messages)


@pytest.mark.project(
    {
        ".claude/agents/worker.md": "---\nname: worker\ndescription: d\nhooks:\n  Stop:\n    - hooks:\n"
        "        - type: command\n          command: echo stopped >> stops\n---\nYou are WORKER.\n"
    }
)
def test_the_stop_hook_of_a_definition_is_that_of_the_agent(sessions: Any, project: Path) -> None:
    session = sessions(*below({"text": "a"}), orders(order(run_in_background=False)), {"text": "done"})
    lived(session)
    assert (project / "stops").read_text() == "stopped\n"
