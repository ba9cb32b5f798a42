"""The memory of an agent: where it is, and what of it the agent sees."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from checkrein.model.view import View
from checkrein.passes.agents import agent_types
from checkrein.passes.load import load
from checkrein.policy.policy import Directory
from checkrein.runtime.memory.agent_memory import agent_memory
from checkrein.runtime.session.events import ToolFinished
from support.agents import below, definition, files, heard, lived, order, orders, said
from support.repositories import git, make_repository
from support.sessions import call, open_session


def kind_of(project: Path, scope: str) -> Any:
    (project / ".claude/agents").mkdir(parents=True, exist_ok=True)
    (project / ".claude/agents/worker.md").write_text(files(memory=scope)[".claude/agents/worker.md"])
    return agent_types(View(load(project)), {})["worker"]


@pytest.mark.parametrize(
    ("scope", "place"),
    [("project", ".claude/agent-memory/worker"), ("local", ".claude/agent-memory-local/worker")],
)
def test_the_place_in_a_project(project: Path, scope: str, place: str) -> None:
    found = agent_memory(kind_of(project, scope), load(project), {})
    assert found == Directory(str(project.resolve() / place), "project")


def test_the_place_of_the_user(project: Path) -> None:
    found = agent_memory(kind_of(project, "user"), load(project), {})
    home = os.path.realpath(load(project).place.config_dir)
    assert found == Directory(f"{home}/agent-memory/worker", "project")


def test_memory_that_is_off_is_nowhere(project: Path) -> None:
    off = {"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"}
    assert agent_memory(kind_of(project, "project"), load(project), off) is None


@pytest.mark.parametrize("target", ["../../elsewhere", "../.git/hooks", "../src"])
def test_a_link_in_the_project_does_not_count(project: Path, target: str) -> None:
    kind = kind_of(project, "project")
    (project / ".claude/agent-memory").symlink_to(target)
    assert agent_memory(kind, load(project), {}) is None


@pytest.mark.project(
    files(memory="project") | {".claude/agent-memory/worker/MEMORY.md": "- remember the MOON\n"}
)
def test_the_agent_sees_its_memory_and_its_parent_does_not(project: Path) -> None:
    replies = (*below({"text": "done"}), orders(order(run_in_background=False)), {"text": "end"})
    with open_session(project, *replies) as session:
        lived(session)
        requests = session.conversation.models.model.requests
    (child,) = heard(requests)
    assert "MOON" in said(child.messages)
    assert all("MOON" not in said(one.messages) for one in requests if one is not child)


NOW = {"run_in_background": False}
OWN = ".claude/agent-memory/worker"


def note(path: object, text: str = "- the MOON\n") -> dict[str, Any]:
    return call("Write", file_path=str(path), content=text)


def ran(session: Any, *names: str) -> list[bool]:
    events = lived(session)
    return [not one.is_error for one in events if isinstance(one, ToolFinished) and one.name in names]


def write_each(project: Path, *paths: object, **options: Any) -> list[bool]:
    """Whether the agent could write each of them, with nobody to ask."""
    steps = below(*map(note, paths), {"text": "r"})
    with open_session(project, *steps, orders(order(**NOW)), {"text": "end"}, **options) as session:
        return ran(session, "Write")


@pytest.mark.project(files(memory="project"))
@pytest.mark.parametrize("mode", ["default", "acceptEdits", "dontAsk"])
def test_the_agent_writes_its_own_memory_and_nothing_beside_it(project: Path, mode: str) -> None:
    beside = (".claude/agent-memory/other/MEMORY.md", ".claude/settings.json", f"{OWN}/../other/x")
    inner = (f"{OWN}/.git/hooks/pre-commit", f"{OWN}/.claude/settings.json")
    done = write_each(project, f"{OWN}/MEMORY.md", f"{OWN}/a/b.md", *beside, *inner, mode=mode)
    assert done == [True, True, *[False] * 5]
    assert "MOON" in (project / OWN / "MEMORY.md").read_text()


@pytest.mark.project(files(memory="local"))
def test_the_local_memory_is_its_own_too(project: Path) -> None:
    assert write_each(project, ".claude/agent-memory-local/worker/MEMORY.md", f"{OWN}/x") == [True, False]


@pytest.mark.project(files(memory="user"))
def test_the_memory_at_home_is_read_and_written(project: Path) -> None:
    place = agent_memory(kind_of(project, "user"), load(project), {})
    assert place is not None
    file = f"{place.path}/MEMORY.md"
    read = call("Read", file_path=file)
    steps = below(note(file), read, {"text": "r"})
    with open_session(project, *steps, orders(order(**NOW)), {"text": "end"}) as session:
        assert ran(session, "Write", "Read") == [True, True]


@pytest.mark.project(files(memory="project"))
@pytest.mark.parametrize(
    ("options", "rules"),
    [
        ({"mode": "plan"}, {}),
        ({"trust": False}, {}),
        ({}, {"deny": ["Edit(.claude/**)"]}),
        ({}, {"deny": ["Write"]}),
        ({}, {"deny": ["Read(.claude/agent-memory/**)"]}),
        ({}, {"ask": ["Edit(.claude/agent-memory/**)"]}),
    ],
)
def test_what_forbids_it_holds(project: Path, options: dict[str, Any], rules: dict[str, Any]) -> None:
    (project / ".claude/settings.json").write_text(json.dumps({"permissions": rules}))
    assert True not in write_each(project, f"{OWN}/MEMORY.md", **options)
    assert not (project / OWN / "MEMORY.md").exists()


@pytest.mark.project(files())
def test_a_memory_that_appears_during_the_session_gives_no_right(project: Path) -> None:
    steps = below(note(f"{OWN}/x"), {"text": "r"}, note(f"{OWN}/y"), {"text": "r"})
    turns = (orders(order(**NOW)), {"text": "end"}) * 2
    with open_session(project, *steps, *turns) as session:
        assert ran(session, "Write") == [False]
        kind_of(project, "project")
        assert ran(session, "Write") == [False]


@pytest.mark.project(files(memory="project"))
def test_a_link_that_comes_later_leads_nowhere(project: Path) -> None:
    (project / OWN).mkdir(parents=True)
    (project / ".git/hooks").mkdir(parents=True)
    (project / OWN / "out").symlink_to(project / ".git/hooks")
    assert write_each(project, f"{OWN}/out/pre-commit", f"{OWN}/x") == [False, True]


@pytest.mark.project(
    files(memory="project") | {".claude/agents/deep.md": definition("You are DEEP.", "deep")}
)
def test_neither_its_parent_nor_its_child_writes_there(project: Path) -> None:
    file = f"{OWN}/MEMORY.md"
    steps = (
        *below(note(file), {"text": "r"}, system="DEEP"),
        *below(orders(order("dig", "deep", **NOW)), {"text": "r"}),
    )
    with open_session(project, *steps, orders(order(**NOW)), note(file), {"text": "end"}) as session:
        assert ran(session, "Write") == [False, False]


@pytest.mark.project(files(memory="project"))
def test_a_session_as_that_agent_writes_it(project: Path) -> None:
    replies = (note(f"{OWN}/MEMORY.md"), note(".claude/x"), {"text": "end"})
    with open_session(project, *replies, agent="worker") as session:
        assert ran(session, "Write") == [True, False]


def test_one_in_a_worktree_writes_the_memory_of_the_project(tmp_path: Path) -> None:
    project = make_repository(tmp_path / "p")
    (project / ".claude/agents").mkdir(parents=True)
    (project / ".claude/agents/worker.md").write_text(definition(memory="project", isolation="worktree"))
    git(project, "add", "-A")
    git(project, "commit", "-qm", "agent")
    paths = (project / OWN / "MEMORY.md", project / ".claude/x", project / "a.txt", project / OWN / "../o/x")
    assert write_each(project, *paths, mode="acceptEdits") == [True, False, False, False]
    assert not list(project.glob(".claude/worktrees/*")), "nothing is left to keep"
