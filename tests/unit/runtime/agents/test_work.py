"""A subagent at work: its start, its siblings, its turns."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from checkrein.runtime.agents.work import _report
from checkrein.runtime.session.events import (
    ContextAdded,
    HookFinished,
    Notice,
    PromptAccepted,
    RequestSent,
    Result,
    ToolFinished,
)
from support.agents import below, files, heard, lived, order, orders, said
from support.sessions import call, open_session

PROJECT = pytest.mark.project(files())
FIRST = {"text": "w", "repeat": 0}


class Clock:
    """When each request of an agent came, by the words it was told."""

    def __init__(self, model: Any) -> None:
        self.at: dict[str, list[float]] = {}
        was = model.stream

        def stream(request: Any, cancel: Any) -> Any:
            for word in ("task-0", "task-1", "task-2"):
                if word in said(request.messages[:1]) and heard([request]):
                    self.at.setdefault(word, []).append(time.monotonic())
            return was(request, cancel)

        model.stream = stream


def timed(
    project: Path, patience: str, delay: float, types: tuple[str, ...] = ("worker",) * 3
) -> list[float]:
    """The seconds from the first request of the first agent to the first one of each."""
    session = open_session(
        project,
        *below({"text": "r", "delay": delay, "repeat": 0}),
        orders(*(order(f"task-{number}", kind) for number, kind in enumerate(types))),
        FIRST,
        env={**os.environ, "CLAUDE_CODE_WORKFLOW_PREFIX_STAGGER_MS": patience},
    )
    with session:
        clock = Clock(session.conversation.models.model)
        lived(session)
    first = min(at[0] for at in clock.at.values())
    return sorted(at[0] - first for at in clock.at.values())


@PROJECT
def test_siblings_wait_for_the_first_reply(project: Path) -> None:
    zero, second, third = timed(project, "5000", 0.4)
    assert zero == 0
    assert 0.35 <= second <= third < 1.5


@PROJECT
def test_siblings_do_not_wait_longer_than_that(project: Path) -> None:
    _, second, third = timed(project, "300", 3.0)
    assert 0.2 <= second <= third < 1.5


@pytest.mark.project({**files(), **files(name="other")})
def test_another_type_waits_for_nobody(project: Path) -> None:
    _, second, third = timed(project, "5000", 1.0, ("worker", "other", "worker"))
    assert second < 0.5
    assert third >= 0.9


@PROJECT
def test_a_first_one_that_fails_lets_the_others_go(project: Path) -> None:
    session = open_session(
        project,
        *below({"fault": {"status": 400}, "delay": 0.2}),
        *below({"text": "r", "repeat": 0}),
        orders(order("task-0"), order("task-1")),
        FIRST,
        env={**os.environ, "CLAUDE_CODE_WORKFLOW_PREFIX_STAGGER_MS": "20000"},
    )
    with session:
        began = time.monotonic()
        lived(session)
        assert time.monotonic() - began < 5


# What it begins with.


def hooks(**commands: str) -> dict[str, Any]:
    """Settings with a command for each event."""
    return {
        ".claude/settings.json": {
            "hooks": {
                event: [{"hooks": [{"type": "command", "command": line}]}] for event, line in commands.items()
            }
        }
    }


ADDS = 'echo \'{"hookSpecificOutput": {"hookEventName": "SubagentStart", "additionalContext": "MARIGOLD"}}\''


@pytest.mark.project({**files(), **hooks(SubagentStart=ADDS)})
def test_a_hook_adds_to_its_start(sessions: Any) -> None:
    session = sessions(*below({"text": "r"}), orders(order("the task", run_in_background=False)), FIRST)
    events = lived(session)
    (request,) = heard(session.conversation.models.model.requests)
    told = said(request.messages)
    assert told.index("MARIGOLD") < told.index("the task")
    (fired,) = [one for one in events if isinstance(one, HookFinished)]
    (task,) = session._agents.all()
    assert fired.agent_id == task.id, "the event belongs to the subagent"
    assert fired.parent_call


SKILL = {".claude/skills/craft/SKILL.md": "---\ndescription: d\n---\nThe CRAFT of it.\n"}


@pytest.mark.project({**files(skills="[craft]"), **SKILL})
def test_it_begins_with_its_skills(sessions: Any) -> None:
    session = sessions(*below({"text": "r"}), orders(order(run_in_background=False)), FIRST)
    lived(session)
    (request,) = heard(session.conversation.models.model.requests)
    assert "The CRAFT of it." in said(request.messages)


@pytest.mark.project({**files(skills="[craft]"), **SKILL})
def test_a_denied_skill_does_not_come(sessions: Any) -> None:
    session = sessions(
        *below({"text": "r"}), orders(order(run_in_background=False)), FIRST, disallowed=("Skill(craft)",)
    )
    events = lived(session)
    (request,) = heard(session.conversation.models.model.requests)
    assert "The CRAFT of it." not in said(request.messages)
    (told,) = [one for one in events if isinstance(one, Notice) and "craft" in one.text]
    assert told.agent_id is not None


@pytest.mark.project(
    {
        **files(),
        **hooks(UserPromptSubmit="echo fired >> submitted"),
        ".claude/commands/doit.md": "---\ndescription: d\n---\nEXPANDED",
        "secret.txt": "marigold",
    }
)
def test_its_prompt_is_nobodys_prompt(sessions: Any, project: Path) -> None:
    """Neither hooks of prompts, nor slash commands, nor mentions: a model wrote it."""
    session = sessions(
        *below({"text": "r"}), orders(order("/doit @secret.txt", run_in_background=False)), FIRST
    )
    lived(session)
    (request,) = heard(session.conversation.models.model.requests)
    told = said(request.messages)
    assert "/doit @secret.txt" in told
    assert "EXPANDED" not in told
    assert "marigold" not in told
    assert (project / "submitted").read_text().split() == ["fired"]


@pytest.mark.project({**files(), "CLAUDE.md": "THE RULES"})
@pytest.mark.parametrize(("type", "told"), [("worker", True), ("Explore", False)])
def test_it_has_the_instructions_unless_it_is_lean(sessions: Any, type: str, told: bool) -> None:
    session = sessions(orders(order("find it", type, run_in_background=False)), {"text": "r"}, FIRST)
    lived(session)
    request = session.conversation.models.model.requests[1]
    assert ("THE RULES" in said(request.messages)) is told
    assert "go" not in said(request.messages).split(), "nothing of the parent's conversation"


@PROJECT
def test_it_never_sees_the_parents_words(sessions: Any) -> None:
    session = sessions(*below({"text": "r"}), orders(order(run_in_background=False)), FIRST)
    events = lived(session, "the SECRET of the parent")
    (request,) = heard(session.conversation.models.model.requests)
    assert "SECRET" not in said(request.messages)
    own = [one for one in events if isinstance(one, PromptAccepted | ContextAdded) and one.agent_id]
    assert own


@pytest.mark.project({**files(), "deep/x.txt": "x"})
def test_a_command_of_its_own_that_ends_wakes_it(sessions: Any) -> None:
    """An agent in the foreground does not wait for its commands, but hears of them while it works."""
    session = sessions(
        *below(
            call("Bash", command="sleep 0.3", run_in_background=True),
            call("Bash", command="sleep 1"),
            {"text": "r", "expect": {"text": "bash_1"}},
        ),
        orders(order(run_in_background=False)),
        FIRST,
        allowed=("Bash",),
    )
    lived(session)
    (task,) = session._agents.all()
    assert task.state == "completed"


@pytest.mark.project({**files(), **files(name="digger", body="You are DIGGER.")})
def test_an_agent_waits_for_its_own_in_the_background(sessions: Any) -> None:
    session = sessions(
        *below({"text": "from below", "delay": 0.3}, system="DIGGER"),
        *below(
            orders(order("dig", "digger")),
            {"text": "waiting"},
            {"text": "all of it", "expect": {"text": "from below"}},
        ),
        orders(order(run_in_background=False)),
        FIRST,
    )
    events = lived(session)
    (done,) = [one for one in events if isinstance(one, ToolFinished) and one.agent_id is None]
    assert "all of it" in done.content


@pytest.mark.project({**files(), **files(name="digger", body="You are DIGGER.")})
def test_an_interrupt_reaches_the_deepest(sessions: Any) -> None:
    session = sessions(
        *below({"text": "never", "delay": 30}, system="DIGGER"),
        *below(orders(order("dig", "digger", run_in_background=False)), {"text": "never"}),
        orders(order(run_in_background=False)),
        FIRST,
    )
    began = None
    for event in session.run("go"):
        if isinstance(event, RequestSent) and len({*seen(session), event.agent_id}) == 3 and began is None:
            began = time.monotonic()
            session.control.interrupt()
    assert began is not None
    assert time.monotonic() - began < 3
    assert {task.state for task in session._agents.all()} == {"stopped"}


def seen(session: Any) -> set[str | None]:
    """The main conversation and the agents so far."""
    session.delegate()
    return {None, *(task.id for task in session._agents.all())}


@PROJECT
def test_an_agent_that_starts_itself_ends_at_the_deepest(sessions: Any) -> None:
    again = {**orders(order("again", run_in_background=False)), "when": {"tools": ["Agent"]}}
    session = sessions(
        *below(again, again),
        *below({"text": "deep", "repeat": 0}),
        orders(order("0", run_in_background=False)),
        FIRST,
    )
    lived(session)
    assert session.result.text == "w"
    offered = [{tool.name for tool in one.tools} for one in heard(session.conversation.models.model.requests)]
    assert ["Agent" in names for names in offered[:3]] == [True, True, False]


@pytest.mark.parametrize(
    ("reason", "state", "text"),
    [
        ("max_turns", "completed", "words"),
        ("aborted_streaming", "stopped", "words"),
        ("aborted_tools", "stopped", "words"),
        ("api_error", "failed", "before"),
        ("prompt_too_long", "failed", "before"),
        ("budget_exhausted", "failed", "words"),
    ],
)
def test_each_bad_end_is_a_report(reason: str, state: str, text: str) -> None:
    result = Result(
        subtype="error_during_execution",
        is_error=True,
        session_id="s",
        text="words",
        terminal_reason=reason,
        errors=("why",),
    )
    found = _report(result, "before")
    assert (found.state, found.text) == (state, text)
    assert found.cut


def test_no_result_is_a_report_too() -> None:
    assert _report(None, "").state == "failed"
