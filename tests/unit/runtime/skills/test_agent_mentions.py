"""`@agent-NAME` in a prompt."""

from __future__ import annotations

from pathlib import Path

import pytest

from checkrein.llm.port import Text
from checkrein.runtime.session.options import Options
from checkrein.runtime.session.session import Session
from checkrein.runtime.skills.agent_mentions import agent_mentions
from checkrein.runtime.skills.mentions import mentioned
from checkrein.testing import ScriptedModel
from support.calls import make_tool

KNOWN = ("reviewer", "plug:deep:one", "Big Agent")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("@agent-reviewer look at this", ["reviewer"]),
        ("Let @agent-reviewer, then @agent-plug:deep:one.", ["reviewer", "plug:deep:one"]),
        ('Ask @"reviewer (agent)" and @"Big Agent (agent)"!', ["reviewer", "Big Agent"]),
        ('@agent-reviewer @agent-reviewer @"reviewer (agent)"', ["reviewer"]),
        ("me@agent-reviewer and `@agent-reviewer`", []),
        ("@agent-nobody, @agent-, @reviewer", []),
        ('@"reviewer" @" (agent)"', []),
    ],
)
def test_which_agents_a_prompt_names(text: str, names: list[str]) -> None:
    told = agent_mentions(text, KNOWN)
    assert len(told) == len(names)
    for one, name in zip(told, names):
        assert one.startswith(f"The user wants the agent {name}: start it with the tool Agent")


def test_quotes_keep_the_marks_at_the_end() -> None:
    assert list(mentioned('@"notes (old)" and @a.md, @b.md)')) == ["notes (old)", "a.md", "b.md"]


@pytest.mark.project({".claude/agents/r.md": "---\nname: reviewer\ndescription: d\n---\nReview.\n"})
@pytest.mark.parametrize("tools", [None, ("Read",)])
def test_the_model_is_reminded_before_the_prompt(project: Path, tools: tuple[str, ...] | None) -> None:
    model = ScriptedModel([{"text": "done"}])
    options = Options(tools=tools)
    with Session(project, model=model, options=options, tools=[make_tool("Agent")]) as session:
        list(session.run("@agent-reviewer and @agent-nobody: go"))
    said = [
        block.text
        for message in model.requests[0].messages
        for block in message.content
        if isinstance(block, Text)
    ]
    assert said[-1] == "@agent-reviewer and @agent-nobody: go"
    reminders = [text for text in said if "The user wants the agent" in text]
    assert [("reviewer" in text, "nobody" in text) for text in reminders] == [(True, False)] * (not tools)
