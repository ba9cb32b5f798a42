"""No secret goes from servers, hooks and settings to a target, from whatever scope; texts are reported."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from checkrein.base.origin import Scope
from checkrein.deploy.deploy import Deployment, prepare
from checkrein.deploy.targets import chosen_targets
from checkrein.facts.agents import targets
from checkrein.passes.load import load
from support.files import lay

TOKEN = "ghp_abcdefghijklmnopqrstuvwx1234"
PASSWORD = "correct-horse-battery"
SCOPES: tuple[Scope, ...] = ("project", "local", "user")
SERVER = {
    "command": f"run --with {TOKEN}",
    "args": ["--token", PASSWORD, f"--header=Bearer {TOKEN}"],
    "env": {"DB_PASSWORD": PASSWORD, "MODE": "fast", "X": TOKEN},
    "oauth": {"clientSecret": PASSWORD},
    "extra": {"apiKey": PASSWORD},
}
HOOK = {
    "type": "command",
    "command": f"curl -H 'Authorization: Bearer {TOKEN}' http://localhost",
    "token": PASSWORD,
}
SETTINGS = {
    "env": {"API_TOKEN": PASSWORD, "PLAIN": "yes"},
    "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [HOOK]}]},
}
AGENT = f"""---
name: checker
description: Checks
mcpServers:
  - db: {{command: x, env: {{DB_PASSWORD: {PASSWORD}}}}}
hooks:
  PreToolUse:
    - hooks:
        - type: command
          command: echo {TOKEN}
---
You check.
"""


pytestmark = pytest.mark.project(
    {
        ".claude/settings.json": SETTINGS,
        ".claude/settings.local.json": SETTINGS,
        ".claude/agents/checker.md": AGENT,
        ".mcp.json": {"mcpServers": {"shared": SERVER}},
    },
    home={".claude/settings.json": SETTINGS, ".claude/agents/checker.md": AGENT},
)


@pytest.fixture(autouse=True)
def _servers_of_the_user(project: Path, _own_home: Path) -> None:
    local = {str(project): {"mcpServers": {"mine": SERVER}}}
    lay(_own_home, {".claude.json": {"mcpServers": {"own": SERVER}, "projects": local}})


def prepared(project: Path, name: str) -> Deployment:
    return prepare(load(str(project)), chosen_targets((name,)), scopes=SCOPES)


@pytest.mark.parametrize("target", [key for key, row in targets().items() if row.command is not None])
def test_no_secret_reaches_a_target(project: Path, target: str) -> None:
    for file in prepared(project, target).written[target].files:
        assert TOKEN.encode() not in file.content, file.path
        assert PASSWORD.encode() not in file.content, file.path


def test_the_users_own_are_deployed_when_they_are_named(project: Path) -> None:
    def servers(*scopes: Scope) -> set[str]:
        found = prepare(load(str(project)), chosen_targets(("cursor",)), scopes=scopes)
        files = {file.path: file.text for file in found.written["cursor-agent"].files}
        return set(json.loads(files[".cursor/mcp.json"])["mcpServers"])

    assert servers("project") == {"shared"}
    assert servers("project", "user") == {"shared", "own"}
    assert servers("project", "user", "local") == {"shared", "own", "mine"}


def test_each_is_reported_without_its_value(project: Path) -> None:
    found = prepared(project, "cursor").plan.diagnostics
    told = [one for one in found if one.code == "DEP004"]
    assert any("DB_PASSWORD" in one.message for one in told)
    assert all(one.origin.line for one in told)
    for one in found:
        assert TOKEN not in one.message
        assert PASSWORD not in one.message


def test_a_reference_stands_in_its_place(project: Path) -> None:
    files = {file.path: file.text for file in prepared(project, "cursor").written["cursor-agent"].files}
    entry = json.loads(files[".cursor/mcp.json"])["mcpServers"]["shared"]
    assert entry["env"] == {"DB_PASSWORD": "${env:DB_PASSWORD}", "MODE": "fast", "X": "${env:X}"}
    assert entry["command"] == "run --with ${env:SHARED_SECRET}"


def test_texts_are_reported_by_line_and_not_changed(tmp_path: Path) -> None:
    skill = tmp_path / ".claude/skills/s"
    (skill / "scripts").mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    (tmp_path / "CLAUDE.md").write_text(f"# Rules\n\nUse {TOKEN}.\n")
    (skill / "SKILL.md").write_text(f"---\nname: s\ndescription: d\n---\nOne.\nLog in with {TOKEN}\n")
    (skill / "scripts/x.sh").write_text(f"#!/bin/sh\ncurl -u {TOKEN} x\n")
    (skill / "logo.bin").write_bytes(b"\0" + TOKEN.encode())
    found = prepare(load(str(tmp_path)), chosen_targets(("codex",)))
    told = sorted(
        (os.path.relpath(one.origin.file, tmp_path), one.origin.line)
        for one in found.plan.diagnostics
        if one.code == "DEP015"
    )
    assert told == [
        (".claude/skills/s/SKILL.md", 6),
        (".claude/skills/s/scripts/x.sh", 2),
        ("CLAUDE.md", 3),
    ]
    assert not any(TOKEN in one.message for one in found.plan.diagnostics)
    assert any(TOKEN.encode() in file.content for file in found.written["codex"].files)
