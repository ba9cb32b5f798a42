"""Every tool that Claude Code documents exists here, or the page of divergences says why not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from checkrein.runtime.context.toolsearch import NAME as TOOL_SEARCH
from checkrein.runtime.mcp.resource_tools import LIST, READ
from checkrein.runtime.mcp.wait_tool import WaitForServers
from checkrein.runtime.skills.skill_tool import SkillTool
from checkrein.runtime.tools.catalog import find

WITH_SERVERS = (LIST, READ, WaitForServers.name)
PAGE = Path(__file__).parents[2] / "docs" / "divergences.md"
DOCUMENTED = [
    "Bash",
    "Read",
    "Write",
    "Edit",
    "NotebookEdit",
    "Glob",
    "Grep",
    "WebFetch",
    "WebSearch",
    "Agent",
    "Task",
    "TaskOutput",
    "TaskStop",
    "TodoWrite",
    "TaskCreate",
    "TaskUpdate",
    "TaskGet",
    "TaskList",
    "AskUserQuestion",
    "EnterPlanMode",
    "ExitPlanMode",
    "Skill",
    "ToolSearch",
    "Monitor",
    "EnterWorktree",
    "ExitWorktree",
    "CronCreate",
    "CronDelete",
    "CronList",
    "ListMcpResourcesTool",
    "ReadMcpResourceTool",
    "Workflow",
    "SendMessage",
    "ListAgents",
    "ScheduleWakeup",
    "PushNotification",
    "ReportFindings",
    "LSP",
    "PowerShell",
    "WaitForMcpServers",
    "Artifact",
    "RemoteTrigger",
    "SendUserFile",
    "ShareOnboardingGuide",
    "EndConversation",
    "BashOutput",
    "KillShell",
    "KillBash",
    "MultiEdit",
    "LS",
    "SlashCommand",
]
TERMS = ("6-stage", "5-layer", "14 break vectors", "filter pass", "LMPL")


def section(title: str) -> str:
    return PAGE.read_text("utf-8").partition(f"\n## {title}\n")[2].partition("\n## ")[0]


@pytest.mark.parametrize("name", DOCUMENTED)
def test_a_documented_tool_exists_or_has_a_line(name: str) -> None:
    exists = find(name) is not None or name in (SkillTool.name, TOOL_SEARCH, *WITH_SERVERS)
    rows = [row for row in section("Tools").splitlines() if f"`{name}`" in row.partition(" | ")[0]]
    assert exists or rows


@pytest.mark.parametrize("term", TERMS)
def test_a_counted_term_has_a_line(term: str) -> None:
    assert re.search(rf"^\| [^|]*{re.escape(term)}", section("Counted terms"), re.MULTILINE)
