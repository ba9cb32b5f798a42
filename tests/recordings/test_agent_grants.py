"""What a person allows for good while a subagent works: it holds for the session, and never wider."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from checkrein.llm.port import Cancel
from checkrein.policy.updates import Update
from checkrein.runtime.session.control import Answer, Question
from checkrein.runtime.session.events import Event, ModeChanged, ToolFinished
from support.agents import below, definition, files, lived, order, orders
from support.repositories import git, make_repository
from support.sessions import call, open_session

PROJECT = pytest.mark.project(files())
NOW = {"run_in_background": False}
END = {"text": "end", "repeat": 0}
REPORT = {"text": "r"}


class Always:
    """A person who takes the first offer, or says these updates."""

    def __init__(self, *updates: dict[str, Any]) -> None:
        self._updates = tuple(msgspec.convert(one, Update) for one in updates)
        self.questions: list[Question] = []

    def ask(self, question: Question, cancel: Cancel) -> Answer:
        self.questions.append(question)
        return Answer(verdict="allow", updated_permissions=self._updates or question.suggestions[:1])


def bash(command: str) -> dict[str, Any]:
    return call("Bash", command=command)


def write(path: str) -> dict[str, Any]:
    return call("Write", file_path=path, content="x")


def rules(*texts: str, behavior: str = "allow", to: str = "session") -> dict[str, Any]:
    listed = [{"toolName": "Bash", "ruleContent": text} for text in texts]
    return {"type": "addRules", "rules": listed, "behavior": behavior, "destination": to}


ACCEPT = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}


def tries(events: list[Event], *names: str) -> list[bool]:
    """Whether each call of these tools ran."""
    return [not one.is_error for one in events if isinstance(one, ToolFinished) and one.name in names]


@PROJECT
def test_a_question_of_a_child_offers_what_helps_and_is_asked_once(project: Path) -> None:
    asker = Always()
    steps = below(bash("make x"), bash("make x y"), REPORT)
    with open_session(project, *steps, orders(order(**NOW)), END, asker=asker) as session:
        lived(session)
    (question,) = asker.questions
    assert question.agent_id is not None
    kept = json.loads((project / ".claude/settings.local.json").read_text())
    assert kept["permissions"]["allow"] == ["Bash(make x *)"]


@PROJECT
def test_it_holds_for_the_parent_and_the_next_child(project: Path) -> None:
    asker = Always(rules("touch *"))
    first = below(bash("touch one"), REPORT, to="task-1.")
    second = below(bash("touch two"), REPORT, to="task-2.")
    turns = (orders(order("task-1.", **NOW)), bash("touch three"), orders(order("task-2.", **NOW)), END)
    with open_session(project, *first, *second, *turns, asker=asker) as session:
        assert tries(lived(session), "Bash") == [True, True, True]
    assert len(asker.questions) == 1


@PROJECT
def test_it_settles_the_questions_of_siblings(project: Path) -> None:
    asker = Always(rules("touch *"))
    each = [
        turn for number in range(4) for turn in below(bash(f"touch f{number}"), REPORT, to=f"task-{number}.")
    ]
    parent = orders(*(order(f"task-{number}.") for number in range(4)))
    with open_session(project, *each, parent, END, asker=asker) as session:
        assert tries(lived(session), "Bash") == [True] * 4
    assert len(asker.questions) == 1


@pytest.mark.project(files() | {".claude/agents/deep.md": definition("You are DEEP.", "deep")})
def test_it_holds_from_a_grandchild_up(project: Path) -> None:
    asker = Always(rules("touch *"))
    steps = (
        *below(bash("touch one"), REPORT, system="DEEP"),
        *below(orders(order("dig", "deep", **NOW)), bash("touch two"), REPORT),
    )
    with open_session(
        project, *steps, orders(order(**NOW)), bash("touch three"), END, asker=asker
    ) as session:
        assert tries(lived(session), "Bash") == [True, True, True]
    assert len(asker.questions) == 1


@pytest.mark.project(
    files(disallowedTools="'Bash(touch two)'")
    | {".claude/settings.json": {"permissions": {"deny": ["Bash(touch three)"], "ask": ["Bash(touch four)"]}}}
)
def test_no_deny_and_no_question_ends_by_it(project: Path) -> None:
    asker = Always(rules("touch *"))
    steps = below(*(bash(f"touch {name}") for name in ("one", "two", "three", "four", "four")), REPORT)
    with open_session(project, *steps, orders(order(**NOW)), bash("touch two"), END, asker=asker) as session:
        assert tries(lived(session), "Bash") == [True, False, False, True, True, True]
    assert [one.input["command"] for one in asker.questions] == ["touch one", "touch four", "touch four"]


@PROJECT
def test_a_mode_for_edits_holds_for_the_session(project: Path) -> None:
    asker = Always(ACCEPT)
    steps = below(write("one"), write("two"), REPORT)
    with open_session(project, *steps, orders(order(**NOW)), write("three"), END, asker=asker) as session:
        events = lived(session)
        assert session.conversation.gate.mode == "acceptEdits"
    assert len(asker.questions) == 1
    assert [one.agent_id is None for one in events if isinstance(one, ModeChanged)].count(True) == 1
    assert all((project / name).exists() for name in ("one", "two", "three"))


@pytest.mark.project(
    files() | {".claude/agents/plan.md": definition("You are PLAN.", "plan", permissionMode="plan")}
)
def test_a_mode_for_edits_ends_no_plan_above(project: Path) -> None:
    asker = Always(ACCEPT)
    steps = (
        *below(write("one"), write("two"), REPORT),
        *below(orders(order(**NOW)), REPORT, system="PLAN"),
    )
    with open_session(project, *steps, orders(order(type="plan", **NOW)), END, asker=asker) as session:
        events = lived(session)
        assert session.conversation.gate.mode == "default"
    assert len(asker.questions) == 2
    assert all(one.agent_id is not None for one in events if isinstance(one, ModeChanged))


@pytest.mark.project(files())
def test_a_mode_that_the_session_may_not_have_is_not_taken_over(project: Path) -> None:
    asker = Always({**ACCEPT, "mode": "bypassPermissions"})
    steps = below(bash("touch one"), bash("touch two"), REPORT)
    with open_session(project, *steps, orders(order(**NOW)), END, asker=asker, allow_bypass=True) as session:
        lived(session)
        assert session.conversation.gate.mode == "default"
    assert len(asker.questions) == 2


@PROJECT
def test_a_deny_of_the_person_binds_the_session(project: Path) -> None:
    asker = Always(rules("touch two", behavior="deny"))
    steps = below(bash("touch one"), REPORT)
    with open_session(project, *steps, orders(order(**NOW)), bash("touch two"), END, asker=asker) as session:
        assert tries(lived(session), "Bash") == [True, False]


APPROVAL = {"behavior": "allow", "updatedPermissions": [rules("touch *")]}
SAYS = json.dumps({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": APPROVAL}})
HOOKS = {"PermissionRequest": [{"hooks": [{"type": "command", "command": f"echo '{SAYS}'"}]}]}


@pytest.mark.project(files(hooks=json.dumps(HOOKS)))
def test_a_hook_of_its_definition_gives_no_right(project: Path) -> None:
    class Nobody:
        def ask(self, question: Question, cancel: Cancel) -> Answer:
            return Answer(verdict="deny")

    steps = below(bash("touch one"), bash("touch two"), REPORT)
    with open_session(project, *steps, orders(order(**NOW)), bash("touch three"), END, asker=Nobody()) as s:
        assert tries(lived(s), "Bash") == [False, False, False]


def test_a_rule_of_one_in_a_worktree_is_kept_in_the_project(tmp_path: Path) -> None:
    project = make_repository(tmp_path / "p")
    for name, text in files(isolation="worktree").items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "agents")
    asker = Always(rules("touch *", to="projectSettings"))
    steps = below(bash("touch one"), bash("touch two"), REPORT)
    with open_session(project, *steps, orders(order(**NOW)), END, asker=asker) as session:
        assert tries(lived(session), "Bash") == [True, True]
    assert len(asker.questions) == 1
    assert "Bash(touch *)" in (project / ".claude/settings.json").read_text()
    assert list(project.glob(".claude/worktrees/*/.claude/settings*.json")) == []
