"""A session whose main conversation is an agent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checkrein.base.errors import UsageError
from checkrein.cli.main import run
from checkrein.llm.port import Text
from checkrein.model.view import View
from checkrein.passes.load import load
from checkrein.runtime.session.events import Notice
from checkrein.runtime.session.main_agent import role_of
from checkrein.runtime.session.options import Options
from checkrein.runtime.trust import standing
from support.agents import said
from support.calls import make_tool
from support.sessions import call, open_session

LEAD = """---
name: lead
description: Leads.
tools: Read, Bash, Agent(tester), mcp__gh
disallowedTools: Bash(rm *)
permissionMode: plan
model: haiku
effort: low
maxTurns: 4
initialPrompt: Look around first.
hooks: {Stop: [{hooks: [{type: command, command: "echo stopped >> stops"}]}]}
---
You lead.
"""
FILES: dict[str, Any] = {
    ".claude/agents/lead.md": LEAD,
    ".claude/agents/tester.md": "---\nname: tester\ndescription: Tests.\ndisallowedTools: Bash\n---\nTest.\n",
    "CLAUDE.md": "Use tabs.\n",
}
pytestmark = pytest.mark.project(FILES, inside=".")
DONE = ({"text": "seen"}, {"text": "done"})


def test_it_has_the_prompt_and_the_environment_of_the_agent(project: Path) -> None:
    with open_session(project, *DONE, agent="lead") as session:
        prompt = session.conversation.backdrop.prompt
        assert [segment.text for segment in prompt.system] == ["You lead."]
        assert prompt.system[0].origin is not None
        assert prompt.system[0].origin.file.endswith("lead.md")
        assert any("Use tabs." in segment.text for segment in prompt.opening)
        assert session.options.effort == "low"
        assert session.conversation.gate.mode == "plan"
        assert session.conversation.hooks.common.agent_type == "lead"
        assert session.conversation.view.agent_names == {"tester"}
        assert session.conversation.meter.budget.requests == 4


def test_it_has_the_tools_of_the_agent(project: Path) -> None:
    with open_session(project, *DONE, agent="lead") as session:
        offer = session.conversation.offer
        assert set(session.conversation.host.tools.names()) <= {"Read", "Bash", "Agent"}
        assert offer.allows(make_tool("mcp__gh__list"))
        assert not offer.allows(make_tool("mcp__other__list"))
        assert not offer.allows(make_tool("Write"))


def test_its_own_rules_have_their_place(project: Path) -> None:
    with open_session(project, *DONE, agent="lead") as session:
        found = session.conversation.gate.decide("Bash", {"command": "rm x"}, str(project))
        assert (found.verdict, found.rule) == ("deny", "Bash(rm *)")
        assert found.origin is not None
        assert (found.origin.file, found.origin.line) == (str(project / ".claude/agents/lead.md"), 5)
    with open_session(project, *DONE, agent="tester") as session:
        assert "Bash" not in session.conversation.host.tools.names()
        assert "Read" in session.conversation.host.tools.names()


def test_its_first_prompt_comes_before_the_users(project: Path) -> None:
    with open_session(project, *DONE, agent="lead") as session:
        list(session.run("Go."))
        said = [
            block.text
            for message in session.conversation.state.messages
            if message.role == "user"
            for block in message.content
            if isinstance(block, Text) and "<system-reminder>" not in block.text
        ]
        assert said == ["Look around first.", "Go."]
    assert (project / "stops").read_text() == "stopped\nstopped\n"


def test_its_model_is_that_of_the_agent(project: Path) -> None:
    view = View(load(project))
    trust = standing(view.project)
    assert role_of(view, Options(agent="lead"), None, {}, trust).model == "haiku"
    assert role_of(view, Options(agent="lead"), "opus", {}, trust).model == "opus"
    assert role_of(view, Options(agent="lead", continue_=True), None, {}, trust).model is None


def test_what_the_caller_chose_goes_first(project: Path) -> None:
    with open_session(
        project, *DONE, agent="lead", system_prompt="Mine.", effort="high", mode="acceptEdits"
    ) as session:
        assert [segment.text for segment in session.conversation.backdrop.prompt.system] == ["Mine."]
        assert session.options.effort == "high"
        assert session.conversation.gate.mode == "acceptEdits"


@pytest.mark.project(
    {".claude/agents/a.md": "---\nname: a\ndescription: d\npermissionMode: bypassPermissions\n---\nA.\n"}
)
def test_a_definition_never_widens_the_mode(project: Path) -> None:
    with open_session(project, *DONE, agent="a") as session:
        assert session.conversation.gate.mode == "default"


SET = {**FILES, ".claude/settings.json": json.dumps({"agent": "lead"})}


@pytest.mark.project(SET)
def test_the_setting_names_the_agent(project: Path) -> None:
    with open_session(project, *DONE) as session:
        assert session.options.agent == "lead"
    with open_session(project, *DONE, agent="tester") as session:
        assert session.options.agent == "tester"
        assert session.conversation.gate.mode == "default"
    with open_session(project, *DONE, bare=True) as session:
        assert session.options.agent is None


@pytest.mark.project(SET)
def test_an_untrusted_project_does_not_speak_for_the_user(project: Path) -> None:
    with open_session(project, *DONE, trust=False) as session:
        assert session.options.agent == "lead"
        assert session.conversation.backdrop.initial_message is None
    with open_session(project, *DONE, trust=False, agent="lead") as session:
        assert session.conversation.backdrop.initial_message == "Look around first."


@pytest.mark.project({".claude/settings.json": json.dumps({"agent": "laed"})})
def test_a_setting_without_its_agent_is_told(project: Path) -> None:
    with open_session(project, {"text": "done"}) as session:
        told = [event.text for event in session.run("Go.") if isinstance(event, Notice)]
    assert any("The setting `agent` does not count. There is no agent 'laed'." in text for text in told)


def test_a_continued_session_hears_no_first_prompt(project: Path) -> None:
    with open_session(project, *DONE, agent="lead") as session:
        list(session.run("Go."))
    with open_session(project, {"text": "again"}, agent="lead", continue_=True) as session:
        assert session.conversation.backdrop.initial_message is None
        assert session.conversation.gate.mode == "plan"


WHOLE = {
    ".claude/agents/a.md": "---\nname: a\ndescription: d\nskills: [craft]\nmemory: project\n---\nA.\n",
    ".claude/skills/craft/SKILL.md": "---\ndescription: d\n---\nThe CRAFT of it.\n",
    ".claude/agent-memory/a/MEMORY.md": "- remember the MOON\n",
    "CLAUDE.md": "Use tabs.\n",
}


@pytest.mark.project(WHOLE)
def test_it_begins_with_its_skills(project: Path) -> None:
    with open_session(project, *DONE, agent="a") as session:
        list(session.run("Go."))
        told = said(session.conversation.state.messages)
        assert told.index("The CRAFT of it.") < told.index("Go.")
    with open_session(project, *DONE, agent="a", continue_=True) as session:
        list(session.run("On."))
        assert said(session.conversation.state.messages).count("The CRAFT of it.") == 1


@pytest.mark.project(WHOLE)
def test_a_denied_skill_does_not_come(project: Path) -> None:
    with open_session(project, *DONE, agent="a", disallowed=("Skill(craft)",)) as session:
        told = [event.text for event in session.run("Go.") if isinstance(event, Notice)]
        assert "The CRAFT of it." not in said(session.conversation.state.messages)
    assert told == ["A rule denies the skill craft to the agent."]


@pytest.mark.project(WHOLE)
@pytest.mark.parametrize(("mode", "kept"), [("default", True), ("acceptEdits", True), ("plan", False)])
def test_it_has_its_own_memory(project: Path, mode: str, kept: bool) -> None:
    """It may write there, although `.claude` is protected; plan mode writes nothing."""
    note = str(project / ".claude/agent-memory/a/note.md")
    replies = (call("Write", file_path=note, content="x"), *DONE)
    with open_session(project, *replies, agent="a", mode=mode) as session:
        list(session.run("Go."))
        assert "remember the MOON" in said(session.conversation.state.messages)
    assert Path(note).exists() is kept


HOOK = {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}


@pytest.mark.project({**WHOLE, ".claude/settings.json": json.dumps({"agent": "a", "hooks": HOOK})})
def test_an_untrusted_project_names_no_memory(project: Path) -> None:
    with open_session(project, *DONE, trust=False) as session:
        list(session.run("Go."))
        assert "remember the MOON" not in said(session.conversation.state.messages)


@pytest.mark.project(WHOLE)
def test_a_built_in_reader_has_no_instructions(project: Path) -> None:
    with open_session(project, *DONE, agent="Explore") as session:
        list(session.run("Go."))
        (project / "CLAUDE.md").write_text("Use blanks.\n")
        list(session.run("On."))
        told = said(session.conversation.state.messages)
    assert "Use tabs." not in told
    assert "Use blanks." not in told


def test_an_unknown_agent_is_an_error(project: Path) -> None:
    with pytest.raises(UsageError, match="Did you mean 'lead'"):
        open_session(project, *DONE, agent="laed")


def test_the_flag(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = project / "talk.jsonl"
    script.write_text("\n".join(json.dumps(one) for one in (call("Read", file_path="CLAUDE.md"), *DONE)))
    assert run(["-p", "hi", "--agent", "laed", "--model", f"scripted:{script}"]) == 2
    assert "There is no agent 'laed'. Did you mean 'lead'?" in capsys.readouterr().err
    given = json.dumps({"mine": {"description": "d", "prompt": "Be mine."}})
    flags = ("--agents", given, "--agent", "mine", "--model", f"scripted:{script}")
    assert run(["-p", "hi", *flags]) == 0
    assert capsys.readouterr().out == "seen\n"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("[]", "--agents must be a JSON object"),
        ('{"a": 1}', "the agent 'a': it must be an object with `description` and `prompt`"),
        ('{"a": {"description": "d"}}', "the agent 'a': `prompt` must be text"),
        ('{"a": {"prompt": "p"}}', "the agent 'a': The agent `a` has no description"),
        ('{"a": {"prompt": "p", "description": "d", "maxTurns": "x"}}', "`maxTurns` must be a whole number"),
        ('{"a": {"prompt": "p", "description": "d", "tool": "x"}}', "`tool` is not a field; write `tools`"),
        ('{"-a": {"prompt": "p", "description": "d"}}', "The agent name `-a` can't be used"),
    ],
)
def test_mistakes_in_given_agents(
    project: Path, given: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["-p", "hi", "--agents", given, "--model", "scripted:none"]) == 2
    assert said in capsys.readouterr().err
