"""Agent files that change between prompts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.agents import below, definition, files, heard, lived, order, orders, said

pytestmark = pytest.mark.project({**files(), ".claude/settings.json": {}})
WAITS = {"text": "w"}
START = orders(order(type="late", run_in_background=False))


def hooked(body: str, command: str) -> str:
    hook = f'hooks: {{PreToolUse: [{{hooks: [{{type: command, command: "{command}"}}]}}]}}'
    return definition(body).replace("\ndescription", f"\n{hook}\ndescription")


def test_a_new_file_is_an_agent_with_the_next_prompt(sessions: Any, project: Path) -> None:
    session = sessions(*below({"text": "r"}, system="LATE"), WAITS, START, WAITS)
    lived(session)
    path = project / ".claude/agents/deep/late.md"
    path.parent.mkdir()
    path.write_text(definition("You are LATE.", "late"))
    lived(session, "again")
    (request,) = heard(session.conversation.models.model.requests, "LATE")
    assert request
    told = said(session.conversation.state.messages)
    assert "These types of agents are new or have a new description:\n- late: does work" in told


def test_a_file_that_goes_takes_its_agent_along(sessions: Any, project: Path) -> None:
    session = sessions(WAITS, orders(order(run_in_background=False)), WAITS)
    lived(session)
    (project / ".claude/agents/worker.md").unlink()
    lived(session, "again")
    told = said(session.conversation.state.messages)
    assert "These types of agents are gone: worker." in told
    assert "There is no agent 'worker'" in told


@pytest.mark.project({".claude/agents/worker.md": hooked("You are WORKER.", "true")})
def test_a_new_prompt_counts_and_a_new_hook_does_not(sessions: Any, project: Path) -> None:
    glob = {"tool_calls": [{"name": "Glob", "input": {"pattern": "*"}}]}
    session = sessions(
        *below(glob, {"text": "r"}, system="OTHER"), WAITS, orders(order(run_in_background=False)), WAITS
    )
    lived(session)
    (project / ".claude/agents/worker.md").write_text(hooked("You are OTHER.", "touch ran"))
    lived(session, "again")
    assert len(heard(session.conversation.models.model.requests, "OTHER")) == 2
    assert not (project / "ran").exists()


def test_a_file_that_a_rule_keeps_from_the_model_is_no_agent(sessions: Any, project: Path) -> None:
    session = sessions(WAITS, START, WAITS, disallowed=("Read(.claude/agents/late.md)",))
    lived(session)
    (project / ".claude/agents/late.md").write_text(definition("You are LATE.", "late"))
    lived(session, "again")
    assert "There is no agent 'late'" in said(session.conversation.state.messages)


def test_a_denied_agent_stays_denied(sessions: Any, project: Path) -> None:
    session = sessions(WAITS, START, WAITS, disallowed=("Agent(late)",))
    lived(session)
    (project / ".claude/agents/late.md").write_text(definition("You are LATE.", "late"))
    lived(session, "again")
    assert not heard(session.conversation.models.model.requests, "LATE")
