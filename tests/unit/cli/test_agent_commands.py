"""`why --agent` and `show agents`: what holds for an agent, by its definition and by its parent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checkrein.cli.main import run

REVIEWER = """---
name: reviewer
description: Reviews.
tools: Read, Grep, Bash, Agent(tester), mcp__gh
disallowedTools: Bash(rm *), Write
permissionMode: plan
---
Review.
"""
SETTINGS = {
    "permissions": {
        "allow": ["Bash(make *)", "Bash(rm *)", "Edit(src/**)", "Write", "Agent"],
        "deny": ["Bash(curl *)"],
    }
}
FILES: dict[str, Any] = {
    ".claude/agents/reviewer.md": REVIEWER,
    ".claude/agents/tester.md": (
        "---\nname: tester\ndescription: Tests.\npermissionMode: bypassPermissions\n---\nTest.\n"
    ),
    ".claude/agents/editor.md": (
        "---\nname: editor\ndescription: Edits.\npermissionMode: plan\nbackground: true\n---\nTest.\n"
    ),
    ".claude/settings.json": json.dumps(SETTINGS, indent=1),
}
pytestmark = pytest.mark.project(FILES, inside=".")


@pytest.fixture
def why(project: Path, ask: Any) -> Any:
    def of(call: str, agent: str, *flags: str) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        data = ask("why", call, "--agent", agent, "--trusted", *flags)
        return data["decisions"][call], data["parents"][call], data

    return of


@pytest.mark.parametrize(
    ("call", "agent", "verdict", "parents", "said"),
    [
        ("Bash(make x)", "reviewer", "allow", "allow", "Bash(make *)"),
        ("Bash(curl x)", "reviewer", "deny", "deny", "Bash(curl *)"),
        ("Bash(rm x)", "reviewer", "deny", "allow", "Bash(rm *)"),
        ("Write(src/x)", "reviewer", "deny", "allow", "disallowedTools: Bash(rm *), Write"),
        ("Glob(src)", "reviewer", "deny", "allow", "tools: Read, Grep, Bash, Agent(tester), mcp__gh"),
        ("mcp__gh__list", "reviewer", "ask", "ask", None),
        ("mcp__tracker__list", "reviewer", "deny", "ask", "tools: Read, Grep, Bash, Agent(tester), mcp__gh"),
        ("Task(tester)", "reviewer", "allow", "allow", "Agent"),
        ("Agent(Explore)", "reviewer", "deny", "allow", "tools: Read, Grep, Bash, Agent(tester), mcp__gh"),
        ("Edit(src/x)", "tester", "allow", "allow", "Edit(src/**)"),
        ("Edit(src/x)", "editor", "ask", "allow", None),
        ("Edit(other/x)", "tester", "ask", "ask", None),
        ("Edit(src/x)", "Explore", "deny", "allow", None),
        ("TaskCreate", "editor", "deny", "allow", None),
        ("AskUserQuestion", "tester", "deny", "ask", None),
    ],
)
def test_the_verdict_for_an_agent(
    why: Any, call: str, agent: str, verdict: str, parents: str, said: str | None
) -> None:
    mine, theirs, _ = why(call, agent)
    assert (mine["verdict"], theirs["verdict"], mine.get("rule")) == (verdict, parents, said)


def test_both_rules_have_their_place(why: Any) -> None:
    mine, theirs, data = why("Bash(rm x)", "reviewer")
    assert mine["origin"]["file"].endswith("reviewer.md")
    assert mine["origin"]["span"]["line"] == 5
    assert theirs["origin"]["file"].endswith("settings.json")
    assert data["agent"]["mode"] == "plan"
    assert data["mode"] == "default"


@pytest.mark.parametrize(
    ("mode", "agent", "child"),
    [
        ("default", "reviewer", "plan"),
        ("acceptEdits", "reviewer", "acceptEdits"),
        ("plan", "tester", "plan"),
        ("default", "tester", "default"),
    ],
)
def test_the_mode_of_an_agent_only_narrows(why: Any, mode: str, agent: str, child: str) -> None:
    assert why("Bash(make x)", agent, "--mode", mode)[2]["agent"]["mode"] == child


def test_a_tool_that_only_the_foreground_has(why: Any) -> None:
    mine, _, _ = why("TaskCreate", "tester")
    assert mine["verdict"] == "allow"
    assert mine["notes"] == ["In the background the agent tester does not have TaskCreate."]


def test_a_mode_without_effect_is_named(why: Any) -> None:
    mine, _, _ = why("Edit(other/x)", "tester")
    assert any("`permissionMode: bypassPermissions`" in note for note in mine["notes"])


@pytest.mark.project(
    {**FILES, ".claude/settings.json": '{"permissions": {"deny": ["Agent(tester)"]}}'}, inside="."
)
def test_an_agent_that_may_not_start(why: Any) -> None:
    mine, _, _ = why("Bash(ls)", "tester")
    assert any("can't start: Agent(tester) (.claude/settings.json:1)" in note for note in mine["notes"])


def test_an_unknown_agent(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["why", "Bash(ls)", "--agent", "reviwer"]) == 1
    told = capsys.readouterr().err
    assert "Did you mean 'reviewer'?" in told
    assert "general-purpose" in told
    assert run(["why", "Bash(ls)", "--agent", "reviwer", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["error"]["kind"] == "agent_not_found"


def test_an_agent_is_for_calls(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["why", "reviewer", "--agent", "reviewer"]) == 2
    assert "only work with calls" in capsys.readouterr().err


def test_the_text_has_both_verdicts(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["why", "Write(src/x)", "--agent", "reviewer", "--trusted"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "agent reviewer, in the mode plan  .claude/agents/reviewer.md",
        "",
        "deny  Write(src/x)",
        "  by disallowedTools: Bash(rm *), Write  .claude/agents/reviewer.md:5",
        "  the agent reviewer does not have Write: its `disallowedTools` names Write",
        "  main conversation: allow by Write  .claude/settings.json:7",
    ]
    assert run(["why", "Write(src/x)", "Bash(make x)", "--agent", "reviewer", "--trusted"]) == 0
    assert capsys.readouterr().out.count("main conversation: allow") == 2


def test_what_each_agent_has_in_effect(project: Path, ask: Any) -> None:
    rows = {row["name"]: row for row in ask("show", "agents")["agents"]}
    assert list(rows) == ["general-purpose", "Explore", "Plan", "editor", "reviewer", "tester"]
    reviewer = rows["reviewer"]
    assert reviewer["tools"] == ["Bash", "Read", "Grep", "Agent"]
    assert (reviewer["unknown"], reviewer["denied"]) == (["mcp__gh"], ["Bash(rm *)"])
    assert (reviewer["starts"], reviewer["mode"], reviewer["model"]) == (["tester"], "plan", "inherit")
    assert rows["tester"]["inherits"]
    assert "AskUserQuestion" not in rows["tester"]["tools"]
    (ignored,) = rows["tester"]["ignored"]
    assert ignored["field"] == "permissionMode"
    assert ignored["origin"]["span"]["line"] == 4
    assert "TaskCreate" not in rows["editor"]["tools"]


def test_the_text_says_why_a_field_has_no_effect(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["show", "agents"]) == 0
    told = capsys.readouterr().out
    assert (
        "tester  .claude/agents/tester.md\n  tools: all of its parent's\n  model: inherit; mode: default\n"
        "  permissionMode ignored: `bypassPermissions` does not narrow the mode default of the main "
        "conversation  .claude/agents/tester.md:4\n"
    ) in told
    assert "  starts only: tester\n  denies: Bash(rm *)\n  nothing matches: mcp__gh\n" in told


@pytest.mark.project(
    {
        ".claude/agents/a.md": "---\nname: a\ndescription: d\ntools: Gerp\n---\nDo.\n",
        ".claude/settings.json": '{"permissions": {"deny": ["Agent(Plan)"]}}',
    },
    inside=".",
)
def test_agents_that_can_not_start(project: Path, ask: Any) -> None:
    rows = {row["name"]: row for row in ask("show", "agents")["agents"]}
    assert rows["a"]["refused"].startswith("The agent a can't start: it has no tool. Nothing here matches")
    assert rows["Plan"]["refused"].startswith("The agent Plan can't start: Agent(Plan) (")
    assert "refused" not in rows["Explore"]


@pytest.mark.project(
    {
        ".claude/agents/alone.md": (
            "---\nname: alone\ndescription: Works.\nisolation: worktree\nmemory: project\n---\nWork.\n"
        ),
        ".claude/settings.json": json.dumps(
            {"permissions": {"allow": ["Edit", "Bash(make *)", "Bash(git *)"], "deny": ["Edit(secret/**)"]}}
        ),
    },
    inside=".",
)
@pytest.mark.parametrize(
    ("call", "mine", "parents"),
    [
        ("Edit(src/x)", "allow", "allow"),
        ("Edit(@/src/x)", "deny", "allow"),
        ("Edit(@/secret/x)", "deny", "deny"),
        ("Edit(secret/x)", "deny", "deny"),
        ("Edit(@/.claude/worktrees/agent-alone/src/x)", "allow", "allow"),
        ("Edit(@/.claude/worktrees/agent-alone/secret/x)", "deny", "deny"),
        ("Edit(@/.claude/agent-memory/alone/MEMORY.md)", "allow", "ask"),
        ("Read(@/src/x)", "allow", "allow"),
        ("Bash(make all)", "allow", "allow"),
        ("Bash(cd @ && make all)", "deny", "allow"),
        ("Bash(git -C @ commit -m x)", "deny", "allow"),
        ("Bash(git commit -m x)", "allow", "allow"),
    ],
)
def test_the_worktree_that_it_would_get(why: Any, project: Path, call: str, mine: str, parents: str) -> None:
    root = str(project.resolve())
    own, theirs, data = why(call.replace("@", root), "alone")
    assert (own["verdict"], theirs["verdict"]) == (mine, parents)
    assert data["agent"]["worktree"] == f"{root}/.claude/worktrees/agent-alone"
    assert not (project / ".claude/worktrees").exists(), "asking makes nothing"


@pytest.mark.project(
    {".claude/agents/alone.md": "---\nname: alone\ndescription: d\nisolation: worktree\n---\nWork.\n"},
    inside=".",
)
def test_the_worktree_is_named(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["why", "Edit(x)", "--agent", "alone", "--trusted"]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert "in a worktree such as " in first
    assert first.split("such as ")[1].startswith(f"{project.resolve()}/.claude/worktrees/agent-alone")
