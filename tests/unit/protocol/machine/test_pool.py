"""What a session offers: tools, and the MCP servers that stand for tools nobody knows yet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checkrein.cli.main import run
from checkrein.protocol.machine.pool import offer, tool_pool
from checkrein.protocol.machine.setup import Setup

# One server of the project, one of its user, one that a rule denies whole.
pytestmark = pytest.mark.project(
    {
        ".claude/settings.json": {"permissions": {"deny": ["mcp__denied"]}},
        ".mcp.json": {"mcpServers": {"docs": {"command": "docs-server"}, "denied": {"command": "x"}}},
    },
    home={".claude.json": {"mcpServers": {"mine": {"type": "http", "url": "http://localhost:1/mcp"}}}},
)


def servers(project: Path, **setup: Any) -> list[str]:
    offered, _ = offer(Setup(project=str(project), **setup))
    return [entry.name for entry in offered if entry.kind == "server"]


def test_servers_stand_for_their_tools(project: Path) -> None:
    assert servers(project, trust=True) == ["mcp__docs", "mcp__mine"]
    offered, _ = offer(Setup(project=str(project), trust=True))
    docs = next(entry for entry in offered if entry.name == "mcp__docs")
    assert (docs.source_hint, docs.source) == (".mcp.json:3", "project")


def test_an_untrusted_project_brings_no_servers(project: Path) -> None:
    assert servers(project) == ["mcp__mine"]
    _, skipped = offer(Setup(project=str(project)))
    assert "TRUST001" in {found.code for found in skipped}


def test_servers_can_be_left_out(project: Path) -> None:
    for options in ({"mcp": False}, {"simple": True}):
        offered, _ = offer(Setup(project=str(project), trust=True), **options)
        assert {entry.kind for entry in offered} == {"tool"}
    assert servers(project, trust=True, deny_tools=("mcp__docs",)) == ["mcp__mine"]


def test_the_pool_counts_tools_and_names_servers(project: Path) -> None:
    pool, _ = tool_pool(Setup(project=str(project), trust=True))
    assert pool.servers == ("docs", "mine")
    assert pool.tool_count == len(pool.tools)
    assert not [tool.name for tool in pool.tools if tool.name.startswith("mcp__")]


def test_the_verb_tools(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def names(*argv: str) -> set[str]:
        assert run(["machine", "tools", "--project", str(project), "--limit", "99", "--json", *argv]) == 0
        return {row["name"] for row in json.loads(capsys.readouterr().out)["data"]["entries"]}

    assert names() - names("--no-mcp") == {"mcp__mine"}
    assert names("--query", "MCP server mine") == {"mcp__mine"}
