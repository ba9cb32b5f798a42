"""The memory of an agent: where it is, and what of it the agent sees."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from checkrein.model.view import View
from checkrein.passes.agents import agent_types
from checkrein.passes.load import load
from checkrein.runtime.memory.agent_memory import agent_memory
from support.agents import below, files, heard, lived, order, orders, said
from support.sessions import open_session


def kind_of(project: Path, scope: str) -> Any:
    (project / ".claude/agents").mkdir(parents=True, exist_ok=True)
    (project / ".claude/agents/worker.md").write_text(files(memory=scope)[".claude/agents/worker.md"])
    return agent_types(View(load(project)), {})["worker"]


@pytest.mark.parametrize(
    ("scope", "place"),
    [("project", ".claude/agent-memory/worker"), ("local", ".claude/agent-memory-local/worker")],
)
def test_the_place_in_a_project(project: Path, scope: str, place: str) -> None:
    assert agent_memory(kind_of(project, scope), load(project), {}) == str(project.resolve() / place)


def test_the_place_of_the_user(project: Path) -> None:
    found = agent_memory(kind_of(project, "user"), load(project), {})
    assert found == f"{load(project).place.config_dir}/agent-memory/worker"


def test_memory_that_is_off_is_nowhere(project: Path) -> None:
    off = {"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"}
    assert agent_memory(kind_of(project, "project"), load(project), off) is None


def test_a_link_out_of_the_project_does_not_count(project: Path, tmp_path: Path) -> None:
    kind = kind_of(project, "project")
    (project / ".claude/agent-memory").symlink_to(tmp_path / "elsewhere")
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
