from pathlib import Path

import pytest

from checkrein.base.origin import COMMAND_LINE, Origin
from checkrein.dialects import agents
from checkrein.dialects.codes import Log

FULL = """---
name: reviewer
description: Reviews.
tools: Read, Grep, mcp__x__y
disallowedTools: [Bash]
model: opus
permissionMode: plan
maxTurns: 5
skills: [a, b]
mcpServers:
  - github
  - local: {command: npx, args: [x]}
hooks:
  Stop:
    - hooks: [{type: command, command: done}]
memory: project
background: true
effort: xhigh
isolation: worktree
color: blue
initialPrompt: Start.
extra: 1
---
You review.
"""


def test_every_field(tmp_path: Path) -> None:
    file = tmp_path / "any.md"
    file.write_text(FULL)
    log = Log()
    agent = agents.read(str(file), "project", log)
    assert agent is not None
    assert log == []
    assert agent.name == "reviewer"
    assert agent.tools == ("Read", "Grep", "mcp__x__y")
    assert agent.disallowed_tools == ("Bash",)
    assert (agent.permission_mode, agent.max_turns, agent.skills) == ("plan", 5, ("a", "b"))
    assert agent.server_names == ("github",)
    assert [(server.name, server.command, server.origin.line) for server in agent.servers] == [
        ("local", "npx", 10)
    ]
    assert [hook.event for hook in agent.hooks] == ["Stop"]
    assert (agent.memory, agent.background, agent.effort, agent.isolation) == (
        "project",
        True,
        "xhigh",
        "worktree",
    )
    assert (agent.color, agent.initial_prompt) == ("blue", "Start.")
    assert agent.unknown == {"extra": 1}
    assert agent.body == "You review.\n"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("# Read me\n", "AGENT001"),
        ("---\ndescription: d\n---\n", "AGENT001"),
        ("---\n- x\n---\n", "AGENT001"),
        ("---\nname: -x\ndescription: d\n---\n", "AGENT002"),
        ("---\nname: 'a:b'\ndescription: d\n---\n", "AGENT002"),
        ("---\nname: a\n---\n", "AGENT003"),
        ("---\nname: a\ndescription: ' '\n---\n", "AGENT003"),
    ],
)
def test_files_that_are_no_agents(tmp_path: Path, text: str, code: str) -> None:
    file = tmp_path / "x.md"
    file.write_text(text)
    log = Log()
    assert agents.read(str(file), "project", log) is None
    assert log[-1].code == code


def test_a_plugin_agent_loads_under_its_file_name_without_what_is_forbidden(tmp_path: Path) -> None:
    file = tmp_path / "x.md"
    file.write_text("---\npermissionMode: plan\nhooks: {Stop: []}\nmcpServers: [a]\n---\nBody")
    agent = agents.read(str(file), "plugin", Log(), plugin="p", fallback="x")
    assert agent is not None
    assert (agent.name, agent.permission_mode, agent.hooks, agent.server_names) == ("x", None, (), ())
    assert agent.unknown == {"permissionMode": "plan", "hooks": {"Stop": []}, "mcpServers": ["a"]}
    assert "hooks" in agent.spans


def test_an_agent_of_the_command_line() -> None:
    origin = Origin(COMMAND_LINE, "cli")
    agent = agents.from_json("a", {"description": "d", "prompt": "Do.", "tools": ["Read"]}, origin, Log())
    assert agent is not None
    assert (agent.name, agent.body, agent.tools) == ("a", "Do.", ("Read",))
    assert agents.from_json("a", {"prompt": 3}, origin, Log()) is None


def test_servers_in_other_forms(tmp_path: Path) -> None:
    file = tmp_path / "x.md"
    head = "---\nname: a\ndescription: d\nmcpServers: "
    log = Log()
    file.write_text(head + "one, two\n---\n")
    agent = agents.read(str(file), "user", log)
    assert agent is not None
    assert agent.server_names == ("one", "two")
    file.write_text(head + "{s: {command: x}}\n---\n")
    agent = agents.read(str(file), "user", log)
    assert agent is not None
    assert [server.name for server in agent.servers] == ["s"]
    assert log == []
    file.write_text(head + "3\n---\n")
    agent = agents.read(str(file), "user", log)
    assert agent is not None
    assert agent.unknown == {"mcpServers": 3}
    assert [entry.code for entry in log] == ["FM007"]
