"""Agents that can never run, that go in circles, and whose mode does not count."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from checkrein.passes.findings import check
from checkrein.passes.load import load

Tree = Callable[[Mapping[str, str]], Path]
CODES = ("CC021", "CC022", "CC043", "XP021", "XP022")


def agent(name: str, *fields: str) -> str:
    return "\n".join(("---", f"name: {name}", "description: Use when asked.", *fields, "---", "Do it.\n"))


def agents(**tools: str) -> dict[str, str]:
    return {f"p/.claude/agents/{name}.md": agent(name, text) for name, text in tools.items()}


def settings(**values: Any) -> str:
    return json.dumps(values)


@pytest.fixture
def told(tree: Tree) -> Callable[[Mapping[str, str]], list[str]]:
    def found(files: Mapping[str, str]) -> list[str]:
        root = tree({"p/.git/": "", **files})
        project = load(
            root / "p",
            home=str(root / "home"),
            managed_dir=str(root / "managed"),
            env={},
            plugin_dirs=[str(root / "plug")] if "plug/.claude-plugin/plugin.json" in files else (),
        )
        return [f"{one.code} {one.message}" for one in check(project) if one.code in CODES]

    return found


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ("tools: AskUserQuestion", "The agent `a` can't start: it has no tool but `AskUserQuestion` (no"),
        ("tools: Task\ndisallowedTools: Agent", "`disallowedTools` removes every tool of the agent `a`"),
        ("disallowedTools: '*'", "`disallowedTools` removes every tool of the agent `a`"),
        ("tools: mcp__gh__x\ndisallowedTools: mcp__gh", "`disallowedTools` removes every tool"),
        ("tools: Agent(b)\nbackground: true", "no tool but `Agent` (not in the background)"),
        ("tools: []", "`tools` of the agent `a` is empty"),
    ],
)
def test_an_agent_without_tools(told: Any, fields: str, said: str) -> None:
    (found,) = [one for one in told(agents(a=fields, b="tools: Read")) if one.startswith("CC022")]
    assert said in found


@pytest.mark.parametrize(
    "fields",
    [
        *("tools: mcp__gh", "tools: '*'", "tools: ExitPlanMode\npermissionMode: plan"),
        *("tools: []\nmemory: user", "tools: Task", "disallowedTools: mcp__*", "tools: Bash(git *)"),
    ],
)
def test_an_agent_with_tools(told: Any, fields: str) -> None:
    assert told(agents(a=fields)) == []


def test_a_memory_brings_tools_and_the_unknown_one_is_named(told: Any) -> None:
    (found,) = told(agents(a="tools: Gerp\nmemory: user"))
    assert found.startswith("CC021 `tools` of the agent `a` names `Gerp`")


def test_the_main_agent_has_the_tools_of_the_main_conversation(told: Any) -> None:
    main = {"p/.claude/settings.json": settings(agent="a")}
    assert told(agents(a="tools: AskUserQuestion") | main) == []


def test_circles_of_agents(told: Any) -> None:
    files = agents(
        a="tools: Agent(b)", b="tools: Agent(c), Read", c="tools: Task(a, d)", d="tools: Agent(d), Read"
    )
    assert told(files) == [
        "XP022 Agents may start each other without end: `a` → `b` → `c` → `a`",
        "XP022 Agents may start each other without end: `d` → `d`",
    ]


def test_a_chain_is_not_a_circle(told: Any) -> None:
    assert told(agents(a="tools: Agent(b, c)", b="tools: Agent(c)", c="tools: Read, Agent")) == []


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        (["Agent(a)"], ["XP021 `Agent(a)` in `deny` keeps the agent `a` from ever starting"]),
        (["Agent"], ["XP021 `Agent` in `deny` keeps the agents `a`, `b` from ever starting"]),
        (["Task(b)"], ["XP021 `Task(b)` in `deny` keeps the agent `b` from ever starting"]),
        (["Agent(Explore)", "Bash", "Read(a)", "mcp__*"], []),
    ],
)
def test_rules_beside_an_agent(told: Any, rules: list[str], said: list[str]) -> None:
    files = agents(a="tools: Read", b="tools: Read")
    assert told(files | {"p/.claude/settings.json": settings(permissions={"deny": rules})}) == said


def test_rules_against_the_agents_of_others_do_their_work(told: Any) -> None:
    deny = settings(permissions={"deny": ["Agent(a)", "Agent(plug:b)"]})
    assert told(agents(a="tools: Read") | {"home/.claude/settings.json": deny}) == []
    plugin = {
        "plug/.claude-plugin/plugin.json": '{"name": "plug"}',
        "plug/agents/b.md": agent("b"),
        "p/.claude/settings.json": deny.replace('"Agent(a)", ', ""),
    }
    assert told(plugin) == []


@pytest.mark.parametrize(
    ("default", "own", "fires"),
    [
        *(("acceptEdits", "plan", True), ("bypassPermissions", "dontAsk", True)),
        *(("acceptEdits", "acceptEdits", False), ("default", "plan", False), ("auto", "plan", False)),
    ],
)
def test_modes_without_effect(told: Any, default: str, own: str, fires: bool) -> None:
    mode = {"p/.claude/settings.json": settings(permissions={"defaultMode": default})}
    found = told(agents(a=f"permissionMode: {own}") | mode)
    assert [one[:5] for one in found] == ["CC043"] * fires
