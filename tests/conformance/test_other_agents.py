"""`show`, `why`, `check`, `trust` and the prompt of a session in projects of other agents."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

CODEX = {
    "AGENTS.md": "Run the tests.\n",
    ".codex/config.toml": '[mcp_servers.tracker]\ncommand = "touch"\nargs = ["started"]\n',
    ".codex/hooks.json": '{"hooks": {"SessionStart": '
    '[{"hooks": [{"type": "command", "command": "touch hook"}]}]}}',
    ".codex/agents/tester.toml": 'description = "Tests."\ndeveloper_instructions = "Test all."\n',
}
COPILOT = {
    ".github/copilot-instructions.md": "Short names.\n",
    ".github/prompts/ship.prompt.md": "---\ndescription: Ship it.\n---\nShip.\n",
    ".github/agents/guide.agent.md": "---\ndescription: Guides.\ntools: ['search', 'edit']\n---\nHelp.\n",
    ".vscode/mcp.json": '{"servers": {"docs": {"url": "http://docs.example.com/mcp"}}}',
}


def checkrein(project: Path, *words: str) -> tuple[int, dict[str, Any]]:
    command = [sys.executable, "-m", "checkrein", *words, "--json"]
    done = subprocess.run(
        command, cwd=project, env={**os.environ}, capture_output=True, text=True, check=False
    )
    return done.returncode, json.loads(done.stdout)


@pytest.mark.parametrize(
    ("project", "dialect", "names"),
    [
        (CODEX, "codex", {"AGENTS.md", "tester", "SessionStart", "tracker"}),
        (COPILOT, "copilot", {"copilot-instructions.md", "ship", "guide", "docs"}),
    ],
    indirect=["project"],
)
def test_show_lists_the_files_of_the_agent(project: Path, dialect: str, names: set[str]) -> None:
    status, answer = checkrein(project, "show")
    assert status == 0
    assert {(Path(row["name"]).name, row["dialect"]) for row in answer["data"]["rows"]} == {
        (name, dialect) for name in names
    }


@pytest.mark.parametrize(
    ("project", "thing", "place"),
    [
        (CODEX, "tracker", ".codex/config.toml:1"),
        (CODEX, "tester", ".codex/agents/tester.toml:None"),
        (CODEX, ".codex/hooks.json", ".codex/hooks.json:1"),
        (COPILOT, "docs", ".vscode/mcp.json:1"),
        (COPILOT, "ship", ".github/prompts/ship.prompt.md:None"),
    ],
    indirect=["project"],
)
def test_why_says_where_it_stands(project: Path, thing: str, place: str) -> None:
    status, answer = checkrein(project, "why", thing)
    assert status == 0
    origin = answer["data"]["explanations"][0]["origin"]
    line = (origin.get("span") or {}).get("line")
    assert f"{os.path.relpath(origin['file'], project)}:{line}" == place


@pytest.mark.parametrize(("project", "codes"), [(CODEX, []), (COPILOT, ["MCP008"])], indirect=["project"])
def test_check_tells_what_is_wrong_and_nothing_else(project: Path, codes: list[str]) -> None:
    _, answer = checkrein(project, "check")
    assert [found["code"] for found in answer["data"]["findings"]] == codes


@pytest.mark.parametrize("project", [CODEX, COPILOT], indirect=True)
def test_a_session_takes_nothing_of_it(project: Path) -> None:
    script = project.parent / "script.jsonl"
    script.write_text('{"text": "done"}\n')
    _, told = checkrein(project, "why", "--prompt", "--model", f"scripted:{script}")
    assert "Run the tests" not in json.dumps(told)
    assert "copilot" not in json.dumps(told["data"]["prompt"])
    words = ["-p", "hello", "--model", f"scripted:{script}", "--trust", "--output-format", "json"]
    done = subprocess.run(
        [sys.executable, "-m", "checkrein", *words], cwd=project, capture_output=True, text=True, check=False
    )
    assert json.loads(done.stdout)["result"] == "done", done.stderr
    assert not (project / "hook").exists()
    assert not (project / "started").exists()
